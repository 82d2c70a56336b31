#include "symbolize/unwind/arch/architecture.h"

#include <algorithm>

namespace profiler::symbolize {
namespace {

#define PROFILER_ENTRY(name) Architecture::k##name,
constexpr Architecture kAll[] = {PROFILER_ARCHITECTURES(PROFILER_ENTRY)};
#undef PROFILER_ENTRY

template <class Condition>
std::optional<Architecture> FindIf(const Condition& condition) {
  const auto* const found = std::find_if(std::begin(kAll), std::end(kAll), condition);
  return found == std::end(kAll) ? std::nullopt : std::optional(*found);
}

}  // namespace

std::span<const Architecture> Architectures() { return kAll; }

std::optional<Architecture> ArchitectureOfElf(uint16_t machine, bool is_64_bit) {
  return FindIf(
      [&](Architecture a) { return a->elf_machine == machine && a->is_64_bit == is_64_bit; });
}

std::optional<Architecture> ArchitectureOfMachine(std::string_view machine) {
  return FindIf([&](Architecture a) { return !a->machine.empty() && a->machine == machine; });
}

}  // namespace profiler::symbolize
