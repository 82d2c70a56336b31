#include "symbolize/unwind/registers.h"

#include <elf.h>

#include <bit>

#include "src/base/byte_reader.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kPerfAbi32 = 1, kPerfAbi64 = 2;  // PERF_SAMPLE_REGS_ABI_*
constexpr unsigned kNone = kRegisters;

// DWARF numbers in the order of PERF_REG_X86_*: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs
// r8 … r15.
constexpr std::array<uint8_t, 24> kX86Order = {0,  3,     2,     1,     4,     5,     6,     7,
                                               16, kNone, kNone, kNone, kNone, kNone, kNone, kNone,
                                               8,  9,     10,    11,    12,    13,    14,    15};
// DWARF numbers of the registers of 32-bit programs, in the order of PERF_REG_X86_*.
constexpr std::array<uint8_t, 9> kI386Order = {0, 3, 1, 2, 6, 7, 5, 4, 8};

// The order of PERF_REG_ARM64_* (x0 … x29, lr, sp, pc) is that of DWARF numbers.
unsigned NumberOfPerf(Architecture architecture, unsigned bit) {
  switch (architecture) {
    case Architecture::kX86_64:
      return bit < kX86Order.size() ? kX86Order[bit] : kNone;
    case Architecture::kAArch64:
      return bit < kRegisters ? bit : kNone;
    case Architecture::kI386:
      return bit < kI386Order.size() ? kI386Order[bit] : kNone;
  }
  return kNone;
}

std::optional<Architecture> ArchitectureOfAbi(Architecture machine, uint64_t abi) {
  if (abi == kPerfAbi64) return machine;
  const bool is_i386 = abi == kPerfAbi32 && machine != Architecture::kAArch64;
  return is_i386 ? std::optional(Architecture::kI386) : std::nullopt;
}

}  // namespace

std::optional<Architecture> ArchitectureOfElf(uint16_t machine, bool is_64_bit) {
  if (machine == EM_X86_64 && is_64_bit) return Architecture::kX86_64;
  if (machine == EM_AARCH64 && is_64_bit) return Architecture::kAArch64;
  if (machine == EM_386 && !is_64_bit) return Architecture::kI386;
  return std::nullopt;
}

bool IsCalleeSaved(Architecture architecture, unsigned number) {
  switch (architecture) {
    case Architecture::kX86_64:
      return number == 3 || number == 6 || (number >= 12 && number <= 15);  // rbx, rbp, r12 … r15
    case Architecture::kAArch64:
      return number >= 19 && number <= 29;  // x19 … x28, fp
    case Architecture::kI386:
      return number == 3 || (number >= 5 && number <= 7);  // ebx, ebp, esi, edi
  }
  return false;
}

std::optional<RegisterSet> RegisterSet::FromPerf(Architecture machine, uint64_t abi, uint64_t mask,
                                                 std::span<const std::byte> values) {
  const std::optional<Architecture> architecture = ArchitectureOfAbi(machine, abi);
  if (!architecture) return std::nullopt;
  RegisterSet registers(*architecture);
  ByteReader reader(values);
  for (; mask != 0; mask &= mask - 1) {
    const auto value = reader.Read<uint64_t>();
    const auto bit = static_cast<unsigned>(std::countr_zero(mask));
    registers.Set(NumberOfPerf(*architecture, bit), WithinWord(*architecture, value));
    if (architecture == Architecture::kAArch64 && bit == kVectorGranule) {
      registers.SetVectorGranule(value);
    }
  }
  const RegisterNumbers numbers = NumbersOf(*architecture);
  if (!reader.ok() || !registers.Knows(numbers.pc) || !registers.Knows(numbers.sp)) {
    return std::nullopt;
  }
  return registers;
}

}  // namespace profiler::symbolize
