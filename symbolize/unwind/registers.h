// The registers of one frame, keyed by DWARF number, for each architecture.
//
//              0 … 15                    16        29  30  31  32
//   x86-64     rax rdx rcx rbx rsi rdi   pc
//              rbp rsp r8 … r15
//   AArch64    x0 … x15                  x16 …     fp  lr  sp  pc
//   i386       eax ecx edx ebx esp ebp
//              esi edi pc
//
// Sources: System V ABI for AMD64, figure 3.36; System V ABI for Intel386, 1.1, table 2.14; DWARF
// for the Arm 64-bit architecture, 4.1. AArch64 has no DWARF number for a frame's pc; 32 is used
// here. Its register 46, VG, is stored separately: the vector length belongs to the thread, not to
// a frame.
//
// An x86-64 machine also runs i386 programs. So each chain and each image has its own architecture.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace profiler::symbolize {

enum class Architecture : uint8_t { kX86_64, kAArch64, kI386 };

// Returns the architecture of an ELF file with this machine (EM_…) and class. Empty if its programs
// cannot be unwound, for example x86-64 with 4-byte pointers (x32).
std::optional<Architecture> ArchitectureOfElf(uint16_t machine, bool is_64_bit);

// Returns true if calls put the return address into a register. Otherwise they push it.
constexpr bool HasLinkRegister(Architecture architecture) {
  return architecture == Architecture::kAArch64;
}

// Returns the size of addresses and pushed words in bytes.
constexpr uint64_t WordSize(Architecture architecture) {
  return architecture == Architecture::kI386 ? 4 : 8;
}

// Architecture for which this program is compiled.
#if defined(__aarch64__)
inline constexpr Architecture kNativeArchitecture = Architecture::kAArch64;
#else
inline constexpr Architecture kNativeArchitecture = Architecture::kX86_64;
#endif

inline constexpr unsigned kRegisters = 33;

// DWARF numbers of registers that unwinding uses.
struct RegisterNumbers {
  uint8_t pc, sp, fp;
  // Column of the return address in CIEs: the number of pc on x86, of lr on AArch64.
  uint8_t return_address;
  // The registers that pass an exception to the function that catches it
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

// DWARF number of AArch64's VG, the number of 8-byte units in an SVE vector. The bit
// PERF_REG_ARM64_VG has the same number.
inline constexpr unsigned kVectorGranule = 46;

// Returns true if a callee must preserve the register. If call frame information has no rule for a
// register, a preserved register still has its value, and any other register is lost.
bool IsCalleeSaved(Architecture architecture, unsigned number);

// Wraps a number to the size of a word.
constexpr uint64_t WithinWord(Architecture architecture, uint64_t value) {
  return WordSize(architecture) == 4 ? value & 0xffffffff : value;
}

// Returns the mask of an instruction address's significant bits: without those that pointer
// authentication or tagging adds. User addresses on AArch64 have 48 bits, unless a program asks for
// more.
constexpr uint64_t AddressMask(Architecture architecture) {
  if (architecture == Architecture::kAArch64) return (uint64_t{1} << 48) - 1;
  return WithinWord(architecture, ~uint64_t{0});
}

// The registers of one frame, as a plain value. Unknown registers read as 0.
class RegisterSet {
 public:
  explicit RegisterSet(Architecture architecture = kNativeArchitecture)
      : architecture_(architecture), numbers_(NumbersOf(architecture)) {}

  // Reads the user registers of a sample taken on a 64-bit machine. `values` has one unaligned u64
  // per set bit of `mask`, in the order of PERF_REG_X86_* or PERF_REG_ARM64_*
  // (arch/*/include/uapi/asm/perf_regs.h). `abi` (PERF_SAMPLE_REGS_ABI_*) says whether the program
  // has 32 or 64 bits. Empty if pc or sp is missing. Also empty for 32-bit programs on AArch64,
  // which cannot be unwound.
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

  // Forgets all registers except those whose bits in `bits` are set.
  void KeepOnly(uint64_t bits) {
    for (uint64_t others = known_ & ~bits; others != 0; others &= others - 1) {
      values_[static_cast<unsigned>(__builtin_ctzll(others))] = 0;
    }
    known_ &= bits;
  }

  // Returns the value of VG (kVectorGranule); 0: unknown, or the CPU has no SVE.
  uint64_t vector_granule() const { return vector_granule_; }
  void SetVectorGranule(uint64_t value) { vector_granule_ = value; }

  uint64_t pc() const { return values_[numbers_.pc]; }
  uint64_t sp() const { return values_[numbers_.sp]; }
  uint64_t fp() const { return values_[numbers_.fp]; }

 private:
  Architecture architecture_;
  RegisterNumbers numbers_;  // of architecture_; stored because each step uses them
  uint64_t known_ = 0;       // bit n is set if register n is known
  uint64_t vector_granule_ = 0;
  std::array<uint64_t, kRegisters> values_{};
};

}  // namespace profiler::symbolize
