// i386: 32-bit programs on x86-64 machines.
//
//              0 …                                  8
//              eax ecx edx ebx esp ebp esi edi      pc
//
// Sources: System V ABI for Intel386, 1.1, table 2.14; Linux: arch/x86/include/asm/sigframe.h and
// uapi/asm/sigcontext.h (6.1), uapi/asm/perf_regs.h (6.18).

#include <elf.h>

#include "symbolize/unwind/arch/architecture.h"
#include "symbolize/unwind/arch/x86/x86.h"

namespace profiler::symbolize {
namespace {

// In the order of PERF_REG_X86_*: ax bx cx dx si di bp sp ip.
constexpr std::array<uint8_t, 9> kPerfOrder = {0, 3, 1, 2, 6, 7, 5, 4, 8};

constexpr std::array<uint8_t, 2> kSystemCall = {0xcd, 0x80};  // int $0x80

// pop %eax; mov $119, %eax; int $0x80. The stack has a number and struct sigcontext.
constexpr std::array<uint8_t, 8> kReturn = {0x58, 0xb8, 0x77, 0x00, 0x00, 0x00, 0xcd, 0x80};
// mov $173, %eax; int $0x80. The stack has a number, two pointers, siginfo and struct ucontext.
constexpr std::array<uint8_t, 7> kReturnWithInfo = {0xb8, 0xad, 0x00, 0x00, 0x00, 0xcd, 0x80};
constexpr std::array<uint8_t, 1> kDistances = {0};
// The trap number and the error code are no registers.
constexpr std::array<uint8_t, 11> kSignalOrder = {7, 6, 5,           4,           3, 2,
                                                  1, 0, kNoRegister, kNoRegister, 8};
// Sizes in bytes. Without siginfo: number, segment registers. With siginfo: number and two
// pointers; siginfo; uc_flags, uc_link and uc_stack; segment registers.
constexpr uint64_t kOffset = 4 + 16, kOffsetWithInfo = 12 + 128 + 20 + 16;
constexpr std::array<SignalReturn, 2> kSignalReturns = {{
    {kReturn, kDistances, kOffset, kSignalOrder},
    {kReturnWithInfo, kDistances, kOffsetWithInfo, kSignalOrder},
}};

using X86 = x86::InMode<x86::Mode::k32Bit>;

}  // namespace

constinit const ArchitectureTraits kI386Traits = {
    .name = "i386",
    .elf_machine = EM_386,
    .is_64_bit = false,
    .word_size = 4,
    .numbers = {.pc = 8, .sp = 4, .fp = 5, .return_address = 8, .exception = {0, 2}},
    .callee_saved = 0xe8,  // ebx, ebp, esi, edi
    .address_mask = 0xffffffff,
    .perf_order = kPerfOrder,
    .system_call = kSystemCall,
    .signal_returns = kSignalReturns,
    .ends_in_call = x86::EndsInCall,
    .target_of_call = X86::TargetOfCall,
    .return_path = X86::FindReturnPath,
    .decode = X86::Decode,
    .apply = x86::Apply,
    .find_targets = X86::FindTargets,
    .may_call_itself = x86::MayCallItself,
    .pushes_arguments = true,
    .irelative = R_386_IRELATIVE,
    .linkage_stubs = x86::FindLinkageStubs,
};

}  // namespace profiler::symbolize
