// FlameGraph's folded form: one line a distinct stack, `process;root;…;leaf N`, sorted by its
// bytes. Read by flamegraph.pl, inferno, speedscope, the Firefox Profiler and others.
//
// By default it is, byte for byte, what `perf script | stackcollapse-perf.pl` gives:
//  - N is the sum of the samples' periods, which that script takes from perf script's lines; where
//    the samples have none, their number. (For a recording whose samples carry no PERIOD, perf
//    script prints none, and N is the number of samples: ask for WeightBy::kSamples.)
//  - Only one event: the first that has samples.
//  - Names are tidied as function_names.h says, which cuts parameters and leaves out some frames.
//    NameStyle::kFull keeps every frame and its whole name instead.
// The one exception is code of deleted files, whose names that script garbles.
//
// Pure functions; memory is bounded by the number of distinct stacks, time is linear in them and in
// what is written.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "src/export/call_tree.h"
#include "src/profile/profile.h"

namespace profiler::exports {

enum class NameStyle : uint8_t {
  kStackcollapse,
  kFull,  // ';' becomes ':' and line breaks become spaces; nothing else changes
};

struct FoldedOptions {
  std::optional<profile::EventId> event;  // default: the first that has samples
  WeightBy weight = WeightBy::kPeriod;
  NameStyle names = NameStyle::kStackcollapse;
};

// Hands the text to `write` in pieces of whole lines.
void WriteFolded(const profile::Profile& profile, const FoldedOptions& options,
                 absl::FunctionRef<void(std::string_view lines)> write);

std::string Folded(const profile::Profile& profile, const FoldedOptions& options = {});

}  // namespace profiler::exports
