#include "symbolize/unwind/registers.h"

#include <bit>

#include "src/base/byte_reader.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kPerfAbi32 = 1, kPerfAbi64 = 2;  // PERF_SAMPLE_REGS_ABI_*

std::optional<Architecture> ArchitectureOfAbi(Architecture machine, uint64_t abi) {
  if (abi == kPerfAbi64) return machine;
  if (abi != kPerfAbi32 || machine->narrow == nullptr) return std::nullopt;
  return Architecture(*machine->narrow);
}

}  // namespace

std::optional<RegisterSet> RegisterSet::FromPerf(Architecture machine, uint64_t abi, uint64_t mask,
                                                 std::span<const std::byte> values) {
  const std::optional<Architecture> architecture = ArchitectureOfAbi(machine, abi);
  if (!architecture) return std::nullopt;
  const std::span<const uint8_t> order = (*architecture)->perf_order;
  RegisterSet registers(*architecture);
  ByteReader reader(values);
  for (; mask != 0; mask &= mask - 1) {
    const auto value = reader.Read<uint64_t>();
    const auto bit = static_cast<unsigned>(std::countr_zero(mask));
    if (bit < order.size()) registers.Set(order[bit], WithinWord(*architecture, value));
    if (bit == (*architecture)->vector_granule) registers.SetVectorGranule(value);
  }
  const RegisterNumbers& numbers = NumbersOf(*architecture);
  if (!reader.ok() || !registers.Knows(numbers.pc) || !registers.Knows(numbers.sp)) {
    return std::nullopt;
  }
  return registers;
}

}  // namespace profiler::symbolize
