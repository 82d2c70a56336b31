// x86-64.
//
//              0 …                                  8 …        16
//              rax rdx rcx rbx rsi rdi rbp rsp      r8 … r15   pc
//
// Sources: System V ABI for AMD64, figure 3.36; Linux: arch/x86/include/asm/sigframe.h and
// uapi/asm/sigcontext.h (6.1), uapi/asm/perf_regs.h (6.18).

#include <elf.h>

#include "symbolize/unwind/arch/architecture.h"
#include "symbolize/unwind/arch/x86/x86.h"
#include "symbolize/unwind/arch/x86_64/narrow_vdso.h"

namespace profiler::symbolize {
namespace {

constexpr uint8_t kNone = kNoRegister;

// In the order of PERF_REG_X86_*: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 … r15.
constexpr std::array<uint8_t, 24> kPerfOrder = {0,  3,     2,     1,     4,     5,     6,     7,
                                                16, kNone, kNone, kNone, kNone, kNone, kNone, kNone,
                                                8,  9,     10,    11,    12,    13,    14,    15};

constexpr std::array<uint8_t, 2> kSystemCall = {0x0f, 0x05};
constexpr std::array<uint8_t, 6> kArguments = {5, 4, 1, 10, 8, 9};  // rdi rsi rdx r10 r8 r9

// mov $15, %rax or %eax; syscall: in musl and in Go. The stack has struct ucontext.
constexpr std::array<uint8_t, 9> kReturnByRax = {0x48, 0xc7, 0xc0, 0x0f, 0x00,
                                                 0x00, 0x00, 0x0f, 0x05};
constexpr std::array<uint8_t, 7> kReturnByEax = {0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
constexpr std::array<uint8_t, 1> kDistances = {0};
constexpr std::array<uint8_t, 17> kSignalOrder = {8, 9, 10, 11, 12, 13, 14, 15, 5,
                                                  4, 6, 3,  1,  0,  2,  7,  16};
constexpr uint64_t kSignalOffset = 40;  // size of uc_flags, uc_link and uc_stack
constexpr std::array<SignalReturn, 2> kSignalReturns = {{
    {kReturnByRax, kDistances, kSignalOffset, kSignalOrder},
    {kReturnByEax, kDistances, kSignalOffset, kSignalOrder},
}};

using X86 = x86::InMode<x86::Mode::k64Bit>;

}  // namespace

constinit const ArchitectureTraits kX86_64Traits = {
    .name = "x86-64",
    .machine = "x86_64",
    .elf_machine = EM_X86_64,
    .narrow = &kI386Traits,
    .read_narrow_vdso = ReadNarrowVdso,
    .numbers = {.pc = 16, .sp = 7, .fp = 6, .return_address = 16, .exception = {0, 1}},
    .callee_saved = 0xf048,  // rbx, rbp, r12 … r15
    .perf_order = kPerfOrder,
    .perf_registers = 0xff0fff,  // no segments and flags
    .system_call = kSystemCall,
    .system_call_arguments = kArguments,
    .signal_returns = kSignalReturns,
    .ends_in_call = x86::EndsInCall,
    .target_of_call = X86::TargetOfCall,
    .return_path = X86::FindReturnPath,
    .decode = X86::Decode,
    .apply = x86::Apply,
    .find_targets = X86::FindTargets,
    .may_call_itself = x86::MayCallItself,
    .irelative = R_X86_64_IRELATIVE,
    .linkage_stubs = x86::FindLinkageStubs,
};

#if defined(__x86_64__)
constinit const Architecture kNativeArchitecture = Architecture::kX86_64;
#endif

}  // namespace profiler::symbolize
