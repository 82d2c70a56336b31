// Names of the kinds of taken branches, as perf prints them.
// Source: tools/perf/util/branch.c, Linux 7.2.

#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace profiler {

// Returns the kind of a branch; empty if the CPU did not record it. `flags` are those of
// perf_event::BranchEntry.
inline std::string_view BranchTypeName(uint64_t flags) {
  constexpr std::string_view kNames[] = {
      "",       "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",   "SYSCALL",
      "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX", ""};
  constexpr std::string_view kNewNames[] = {"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
                                            "ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5"};
  constexpr uint64_t kExtended = 15;
  const uint64_t type = flags >> 20 & 0xf, new_type = flags >> 26 & 0xf;
  if (type != kExtended) return kNames[type];
  return new_type < std::size(kNewNames) ? kNewNames[new_type] : "";
}

// Returns the outcome of speculation; "-" if the CPU did not record it.
inline std::string_view SpeculationName(uint64_t flags) {
  constexpr std::string_view kNames[] = {"-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH",
                                         "SPEC_CORRECT_PATH"};
  return kNames[flags >> 24 & 3];
}

}  // namespace profiler
