// Which functions of a profile to annotate.

#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/profile/profile.h"

namespace profiler::annotate {

struct ChosenFunction {
  profile::SymbolId symbol{};
  uint64_t period = 0;  // of the samples that interrupted it, those of calls inlined there too
  uint64_t samples = 0;
};

// The functions called `name` that were interrupted, in all images, the heaviest first; without
// parameters it may stand for each of its overloads. The heaviest function of all for "".
//
// Errors, each of one line: kNotFound where nothing was interrupted there, with names that are
// near, or why a function of that name has no samples.
absl::StatusOr<std::vector<ChosenFunction>> ChooseFunctions(const profile::Profile& profile,
                                                            profile::EventId event,
                                                            std::string_view name);

// The functions with the most of the event's samples, the heaviest first; at most `count`.
std::vector<ChosenFunction> HeaviestFunctions(const profile::Profile& profile,
                                              profile::EventId event, size_t count);

// All functions whose names are known and that were interrupted, whatever the event, those with the
// most samples first.
std::vector<profile::SymbolId> InterruptedFunctions(const profile::Profile& profile);

}  // namespace profiler::annotate
