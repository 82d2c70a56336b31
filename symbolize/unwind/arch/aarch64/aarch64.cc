// AArch64.
//
//              0 … 15     16 …     29  30  31  32
//              x0 … x15   x16 …    fp  lr  sp  pc
//
// DWARF has no number for pc; 32 is used here. User addresses have 48 bits, unless a program asks
// for more. Kernels may use fewer bits, depending on page size and levels of page tables, and then
// signatures are longer.
//
// Sources: DWARF for the Arm 64-bit Architecture, 4.1 and 4.4; Linux: arch/arm64/Kconfig
// (ARM64_VA_BITS, 6.18), arch/arm64/kernel/signal.c and uapi/asm/sigcontext.h (6.1).

#include <elf.h>
#include <sys/prctl.h>

#include <cstring>

#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/arch/aarch64/code.h"
#include "symbolize/unwind/arch/aarch64/frame_state.h"
#include "symbolize/unwind/arch/architecture.h"

namespace profiler::symbolize {
namespace aarch64 {
namespace {

constexpr std::array<uint8_t, 33> kOrder = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                            11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                            22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
constexpr std::array<uint8_t, 5> kAddressWidths = {48, 47, 42, 39, 36};
constexpr uint8_t kVectorGranule = 46;  // VG: the number of 8-byte units in an SVE vector

// svc #0
constexpr std::array<uint8_t, 4> kSystemCall = {0x01, 0x00, 0x00, 0xd4};

// mov x8, #139; svc #0: in musl, in Go, and in the vdso. The stack has siginfo and struct ucontext.
// The pc may be at the first or at the second instruction. While the kernel returns from the
// signal, the pc is after both instructions.
constexpr std::array<uint8_t, 8> kReturn = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
constexpr std::array<uint8_t, 3> kDistances = {0, 4, 8};
// Sizes in bytes: siginfo; then uc_flags, uc_link, uc_stack, uc_sigmask with its padding, and the
// alignment of uc_mcontext; then fault_address.
constexpr std::array<SignalReturn, 1> kSignalReturns = {
    {{kReturn, kDistances, 128 + 176 + 8, kOrder}}};

template <class Code>
uint32_t InstructionAt(const Code& code, size_t at) {
  uint32_t instruction = 0;
  std::memcpy(&instruction, &code[at], sizeof(instruction));
  return instruction;
}

constexpr bool IsRegisterJump(uint32_t code) { return (code & 0xfefff000) == 0xd61f0000; }

// The kernel refuses the request on a CPU without SVE.
uint64_t OwnVectorGranule() {
  const int length = prctl(PR_SVE_GET_VL);  // length in bytes in the low bits, flags above
  return length < 0 ? 0 : static_cast<uint64_t>(length & PR_SVE_VL_LEN_MASK) / 8;
}

bool EndsInCall(std::span<const uint8_t, kLongestCall> code) {
  return IsArmCall(InstructionAt(code, kLongestCall - kInstruction));
}

std::optional<uint64_t> TargetBefore(std::span<const uint8_t, kLongestCall> code,
                                     uint64_t return_address) {
  return TargetOfCall(InstructionAt(code, kLongestCall - kInstruction),
                      return_address - kInstruction);
}

// The last instruction of a stub is br.
bool IsJumpStub(std::span<const uint8_t, kJumpStub> code) {
  return IsRegisterJump(InstructionAt(code, kJumpStub - kInstruction));
}

bool Decode(std::span<const std::byte> code, ElfAddress address, DecodedInstruction* instruction) {
  if (code.size() < kInstruction) return false;
  const uint32_t decoded = InstructionAt(code, 0);
  instruction->Make<uint32_t>() = decoded;
  instruction->length = kInstruction;
  instruction->flow = ArmFlow(decoded);
  instruction->target = ArmTarget(decoded, address);
  instruction->is_padding = IsArmPadding(decoded);
  instruction->returns = ReturnsByLink(decoded);
  instruction->is_prologue = IsArmPrologue(decoded);
  return true;
}

void Apply(const DecodedInstruction& instruction, FrameState* state) {
  *state = AfterArm(instruction.Get<uint32_t>(), *state);
}

void FindTargets(std::span<const std::byte> code, ElfAddress address, uint64_t /*offset_table*/,
                 ArchitectureTraits::AddTarget add) {
  uint32_t before = 0;
  for (size_t at = 0; at + kInstruction <= code.size(); at += kInstruction) {
    const uint32_t instruction = InstructionAt(code, at);
    const ElfAddress from{address.value + at};
    if (const auto called = TargetOfCall(instruction, from.value)) {
      add({*called}, from, /*is_called=*/true);
    } else if (const auto loaded = TakenAddress(before, instruction, from.value)) {
      add({*loaded}, from, /*is_called=*/false);
    }
    before = instruction;
  }
}

bool MayCallItself(std::span<const std::byte> code) {
  for (size_t at = 0; at + kInstruction <= code.size(); at += kInstruction) {
    const auto target = TargetOfCall(InstructionAt(code, at), at);
    if (target && *target != 0 && *target < code.size()) return true;
  }
  return false;
}

// Finds the header of .plt, to which all entries lead. The header pushes the link register and x16,
// which has the address of the entry's slot in .got.plt:
//
//   [bti c]; stp x16, x30, [sp, #-16]!; …; br x17
//
// Source: ELF for the Arm 64-bit Architecture, 2023Q3, "Procedure Linkage Table"; output of GNU ld
// and lld.
std::optional<LinkageHeader> FindLinkageHeader(std::span<const std::byte> plt) {
  constexpr uint64_t kHeaderSize = 32;
  constexpr uint32_t kPush = 0xa9bf7bf0;
  for (size_t at = 0; at < 2 * kInstruction && at + kInstruction <= plt.size();
       at += kInstruction) {
    if (InstructionAt(plt, at) != kPush) continue;
    const uint64_t after = at + kInstruction;
    return LinkageHeader{.offset = after, .size = kHeaderSize - after, .cfa_offset = 16};
  }
  return std::nullopt;
}

// Finds stubs: [bti c]; adrp x16, page; ldr x17, [x16, #offset]; add …; br x17
// Stubs are 16 or 24 bytes long; each ends at the start of the next one.
std::vector<LinkageStub> FindLinkageStubs(const ElfImage& image) {
  constexpr uint32_t kBtiC = 0xd503245f;
  std::vector<LinkageStub> stubs;
  const ElfSection* const plt = image.FindSection(".plt");
  if (plt == nullptr) return stubs;
  const std::span<const std::byte> code = plt->contents;
  const auto end_last = [&stubs](uint64_t end) {
    if (!stubs.empty() && stubs.back().size == 0) stubs.back().size = end - stubs.back().start;
  };
  for (size_t at = 0; at + 2 * kInstruction <= code.size(); at += kInstruction) {
    const uint32_t adrp = InstructionAt(code, at);
    const uint32_t ldr = InstructionAt(code, at + kInstruction);
    if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211) continue;
    const uint64_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
    const auto signed_pages = static_cast<int64_t>(pages << 43) >> 43;
    const uint64_t address = plt->address.value + at;
    const uint64_t slot = (address & ~uint64_t{0xfff}) +
                          static_cast<uint64_t>(signed_pages) * 4096 +
                          uint64_t{ldr >> 10 & 0xfff} * 8;
    const bool has_bti = at >= kInstruction && InstructionAt(code, at - kInstruction) == kBtiC;
    const uint64_t start = has_bti ? address - kInstruction : address;
    end_last(start);
    stubs.push_back({start, 0, slot});
  }
  end_last(plt->address.value + code.size());
  return stubs;
}

}  // namespace
}  // namespace aarch64

constinit const ArchitectureTraits kAArch64Traits = {
    .name = "AArch64",
    .machine = "aarch64",
    .elf_machine = EM_AARCH64,
    .numbers = {.pc = 32, .sp = 31, .fp = 29, .return_address = 30, .exception = {0, 1}},
    .callee_saved = uint64_t{0x7ff} << 19,  // x19 … x28, fp
    .address_mask = (uint64_t{1} << 48) - 1,
    .address_widths = aarch64::kAddressWidths,
    .perf_order = aarch64::kOrder,
    .perf_registers = (uint64_t{1} << 33) - 1,
    .perf_vector_registers = uint64_t{1} << aarch64::kVectorGranule,
    .vector_granule = aarch64::kVectorGranule,
    .own_vector_granule = aarch64::OwnVectorGranule,
    .instruction_size = aarch64::kInstruction,
    .has_link_register = true,
    .system_call = aarch64::kSystemCall,
    .signal_returns = aarch64::kSignalReturns,
    .ends_in_call = aarch64::EndsInCall,
    .target_of_call = aarch64::TargetBefore,
    .is_jump_stub = aarch64::IsJumpStub,
    .link_use = aarch64::UseOfLink,
    .return_path = aarch64::FindReturnPath,
    .decode = aarch64::Decode,
    .apply = aarch64::Apply,
    .find_targets = aarch64::FindTargets,
    .may_call_itself = aarch64::MayCallItself,
    .function_alignment = 4,
    .alignment_shows_functions = false,
    .signs_return_addresses = true,
    .slots_outlast_stack_pointer = true,
    .describes_by_stack_pointer = true,
    .irelative = R_AARCH64_IRELATIVE,
    .linkage_stubs = aarch64::FindLinkageStubs,
    .linkage_header = aarch64::FindLinkageHeader,
    .has_mapping_symbols = true,
};

#if defined(__aarch64__)
constinit const Architecture kNativeArchitecture = Architecture::kAArch64;
#endif

}  // namespace profiler::symbolize
