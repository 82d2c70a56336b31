// Chooses the functions of a profile to annotate.

#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/profile/profile.h"

namespace profiler::annotate {

struct ChosenFunction {
  profile::SymbolId symbol{};
  uint64_t period = 0;  // sum over samples in its code, inlined functions included
  uint64_t samples = 0;
};

// Returns the sampled functions called `name`, in all images, the heaviest first. A name without
// parameters matches all its overloads. "" returns the heaviest function of the event.
//
// Errors, each of one line: kNotFound if no such function has samples; the message suggests similar
// names, or says why a function of that name has no samples.
absl::StatusOr<std::vector<ChosenFunction>> ChooseFunctions(const profile::Profile& profile,
                                                            profile::EventId event,
                                                            std::string_view name);

// Returns the functions with the most of the event's samples, the heaviest first; at most `count`.
std::vector<ChosenFunction> HeaviestFunctions(const profile::Profile& profile,
                                              profile::EventId event, size_t count);

// Returns all named functions with samples of any event; functions with most samples come first.
std::vector<profile::SymbolId> InterruptedFunctions(const profile::Profile& profile);

}  // namespace profiler::annotate
