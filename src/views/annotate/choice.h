// Chooses the functions of a profile to annotate.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/profile/profile.h"

namespace profiler::annotate {

struct ChosenFunction {
  profile::SymbolId symbol{};
  uint64_t period = 0;  // sum over the samples that count, inlined functions included
  uint64_t samples = 0;
};

// The samples that count for a function: those in its code, or all whose call chain contains it.
enum class Counted : uint8_t { kOwn, kWithCallees };

// Returns the sampled functions called `name`, in all images, the heaviest first. A name without
// parameters matches all its overloads; without template arguments, also all its instances. ""
// returns the function with most own samples.
//
// Errors, each of one line: kNotFound if no such function has samples; the message suggests similar
// names, or says why a function of that name has no samples.
absl::StatusOr<std::vector<ChosenFunction>> ChooseFunctions(const profile::Profile& profile,
                                                            profile::EventId event,
                                                            std::string_view name,
                                                            Counted counted = Counted::kOwn);

// Returns the functions into which functions called `name` were inlined. The weight of each is the
// weight of the samples that pass through the inlined code; the heaviest comes first.
std::vector<ChosenFunction> InlinedInto(const profile::Profile& profile, profile::EventId event,
                                        std::string_view name);

// Returns for each stack whether it contains the function's code. Linear in the stacks.
std::vector<bool> StacksWith(const profile::Profile& profile, profile::SymbolId function);

// Returns the functions with the most of the event's samples, the heaviest first; at most `count`.
std::vector<ChosenFunction> HeaviestFunctions(const profile::Profile& profile,
                                              profile::EventId event, size_t count);

// Returns all named functions with samples of any event; functions with most samples come first.
std::vector<profile::SymbolId> InterruptedFunctions(const profile::Profile& profile);

}  // namespace profiler::annotate
