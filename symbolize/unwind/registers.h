// The registers of one frame, keyed by DWARF number. The table in arch/ says which registers an
// architecture has.
//
// An x86-64 machine also runs i386 programs. So each chain and each image has its own architecture.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "symbolize/unwind/arch/architecture.h"

namespace profiler::symbolize {

// The registers of one frame, as a plain value. Unknown registers read as 0.
class RegisterSet {
 public:
  explicit RegisterSet(Architecture architecture = kNativeArchitecture)
      : architecture_(architecture), numbers_(NumbersOf(architecture)) {}

  // Reads the user registers of a sample taken on a 64-bit machine. `values` has one unaligned u64
  // per set bit of `mask`, in the order of PERF_REG_* (arch/*/include/uapi/asm/perf_regs.h). `abi`
  // (PERF_SAMPLE_REGS_ABI_*) says whether the program has 32 or 64 bits. Empty if pc or sp is
  // missing. Also empty for 32-bit programs that cannot be unwound (ArchitectureTraits::narrow).
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

  // Returns the length of vectors (ArchitectureTraits::vector_granule); 0: unknown, or none.
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
