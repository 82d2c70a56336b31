#include "symbolize/unwind/registers.h"

#include <elf.h>

#include <bit>

#include "src/base/byte_reader.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kPerfAbi64 = 2;  // PERF_SAMPLE_REGS_ABI_64
constexpr unsigned kNone = kRegisters;

// DWARF numbers in the order of PERF_REG_X86_*: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs
// r8 … r15.
constexpr std::array<uint8_t, 24> kX86Order = {0,  3,     2,     1,     4,     5,     6,     7,
                                               16, kNone, kNone, kNone, kNone, kNone, kNone, kNone,
                                               8,  9,     10,    11,    12,    13,    14,    15};

// PERF_REG_ARM64_*: x0 … x29, lr, sp, pc, and the DWARF numbers are the same.
unsigned NumberOfPerf(Architecture architecture, unsigned bit) {
  if (architecture == Architecture::kAArch64) return bit < kRegisters ? bit : kNone;
  return bit < kX86Order.size() ? kX86Order[bit] : kNone;
}

}  // namespace

std::optional<Architecture> ArchitectureOfElf(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return Architecture::kX86_64;
    case EM_AARCH64:
      return Architecture::kAArch64;
    default:
      return std::nullopt;
  }
}

bool IsCalleeSaved(Architecture architecture, unsigned number) {
  if (architecture == Architecture::kX86_64) {
    return number == 3 || number == 6 || (number >= 12 && number <= 15);  // rbx, rbp, r12 … r15
  }
  return number >= 19 && number <= 29;  // x19 … x28, fp
}

std::optional<RegisterSet> RegisterSet::FromPerf(Architecture architecture, uint64_t abi,
                                                 uint64_t mask, std::span<const std::byte> values) {
  if (abi != kPerfAbi64) return std::nullopt;
  RegisterSet registers(architecture);
  ByteReader reader(values);
  for (; mask != 0; mask &= mask - 1) {
    const auto value = reader.Read<uint64_t>();
    const auto bit = static_cast<unsigned>(std::countr_zero(mask));
    registers.Set(NumberOfPerf(architecture, bit), value);
    if (architecture == Architecture::kAArch64 && bit == kVectorGranule) {
      registers.SetVectorGranule(value);
    }
  }
  const RegisterNumbers numbers = NumbersOf(architecture);
  if (!reader.ok() || !registers.Knows(numbers.pc) || !registers.Knows(numbers.sp)) {
    return std::nullopt;
  }
  return registers;
}

}  // namespace profiler::symbolize
