// The registers of one frame, by DWARF number, whichever machine reads them.
//
//              0 … 15                    16        29  30  31  32
//   x86-64     rax rdx rcx rbx rsi rdi   pc
//              rbp rsp r8 … r15
//   AArch64    x0 … x15                  x16 …     fp  lr  sp  pc
//   i386       eax ecx edx ebx esp ebp
//              esi edi pc
//
// Sources: System V ABI for AMD64, figure 3.36; System V ABI for Intel386, 1.1, table 2.14; DWARF
// for the Arm 64-bit architecture, 4.1. AArch64 has no DWARF number for the pc of a frame; 32
// stands for it here. Its 46, VG, is kept beside the others: how long vectors are is the thread's,
// and no frame has a value of its own.
//
// One machine runs programs of two architectures: those of i386 on x86-64. So each chain has its
// own, and so has each image.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace profiler::symbolize {

enum class Architecture : uint8_t { kX86_64, kAArch64, kI386 };

// The architecture of an ELF machine (EM_…) and class; empty for one that is not unwound, such as
// x86-64 with pointers of 4 bytes (x32).
std::optional<Architecture> ArchitectureOfElf(uint16_t machine, bool is_64_bit);

// Whether calls leave the return address in a register. Else they push it.
constexpr bool HasLinkRegister(Architecture architecture) {
  return architecture == Architecture::kAArch64;
}

// Of addresses, and of what is pushed, in bytes.
constexpr uint64_t WordSize(Architecture architecture) {
  return architecture == Architecture::kI386 ? 4 : 8;
}

// What the architecture of this program calls itself.
#if defined(__aarch64__)
inline constexpr Architecture kNativeArchitecture = Architecture::kAArch64;
#else
inline constexpr Architecture kNativeArchitecture = Architecture::kX86_64;
#endif

inline constexpr unsigned kRegisters = 33;

// DWARF numbers that unwinding knows by name.
struct RegisterNumbers {
  uint8_t pc, sp, fp;
  uint8_t return_address;  // the column that CIEs name: pc itself on x86, lr on AArch64
  // The two that carry an exception into the function that catches it
  // (__builtin_eh_return_data_regno).
  std::array<uint8_t, 2> exception;
};
constexpr RegisterNumbers NumbersOf(Architecture architecture) {
  switch (architecture) {
    case Architecture::kX86_64:
      return {16, 7, 6, 16, {0, 1}};
    case Architecture::kAArch64:
      return {32, 31, 29, 30, {0, 1}};
    case Architecture::kI386:
      return {8, 4, 5, 8, {0, 2}};
  }
  return {};
}

// VG of AArch64, how many 8 bytes a vector of SVE has: the DWARF number, and the bit of
// PERF_REG_ARM64_VG as well.
inline constexpr unsigned kVectorGranule = 46;

// Whether a callee must leave the register as it found it: such a register without a rule has its
// value still, any other is lost.
bool IsCalleeSaved(Architecture architecture, unsigned number);

// What is counted modulo what a word has room for.
constexpr uint64_t WithinWord(Architecture architecture, uint64_t value) {
  return WordSize(architecture) == 4 ? value & 0xffffffff : value;
}

// The bits of the address of an instruction.
constexpr uint64_t AddressMask(Architecture architecture) {
  if (architecture == Architecture::kAArch64) return (uint64_t{1} << 48) - 1;
  return WithinWord(architecture, ~uint64_t{0});
}

// The address without the bits that pointer authentication or tagging put above it. User addresses
// have 48 bits on AArch64, unless a program asks for more.
constexpr uint64_t StripTags(Architecture architecture, uint64_t address) {
  return address & AddressMask(architecture);
}

// A plain value. Registers that are not known read as 0.
class RegisterSet {
 public:
  explicit RegisterSet(Architecture architecture = kNativeArchitecture)
      : architecture_(architecture), numbers_(NumbersOf(architecture)) {}

  // The user registers of a sample that a machine with 64 bits took: `values` has one unaligned u64
  // for each set bit of `mask`, in the order of PERF_REG_X86_* or PERF_REG_ARM64_*
  // (arch/*/include/uapi/asm/perf_regs.h). `abi` is PERF_SAMPLE_REGS_ABI_*, and says whether it is
  // of a program with 32 bits. Empty for such a one on AArch64, and unless pc and sp are among the
  // registers: nothing can be unwound.
  static std::optional<RegisterSet> FromPerf(Architecture machine, uint64_t abi, uint64_t mask,
                                             std::span<const std::byte> values);

  Architecture architecture() const { return architecture_; }
  bool Knows(unsigned number) const { return number < kRegisters && (known_ >> number & 1) != 0; }
  uint64_t Get(unsigned number) const { return number < kRegisters ? values_[number] : 0; }
  void Set(unsigned number, uint64_t value) {
    if (number >= kRegisters) return;
    values_[number] = value;
    known_ |= uint64_t{1} << number;
  }
  void Forget(unsigned number) {
    if (number >= kRegisters) return;
    values_[number] = 0;
    known_ &= ~(uint64_t{1} << number);
  }

  // Forgets all registers but those whose bits are set.
  void KeepOnly(uint64_t bits) {
    for (uint64_t others = known_ & ~bits; others != 0; others &= others - 1) {
      values_[static_cast<unsigned>(__builtin_ctzll(others))] = 0;
    }
    known_ &= bits;
  }

  // kVectorGranule; 0 where it is not known, and where there is no SVE.
  uint64_t vector_granule() const { return vector_granule_; }
  void SetVectorGranule(uint64_t value) { vector_granule_ = value; }

  uint64_t pc() const { return values_[numbers_.pc]; }
  uint64_t sp() const { return values_[numbers_.sp]; }
  uint64_t fp() const { return values_[numbers_.fp]; }

 private:
  Architecture architecture_;
  RegisterNumbers numbers_;  // of it: asked for with each step
  uint64_t known_ = 0;       // bit n: register n
  uint64_t vector_granule_ = 0;
  std::array<uint64_t, kRegisters> values_{};
};

}  // namespace profiler::symbolize
