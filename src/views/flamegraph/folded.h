// FlameGraph's folded format: one line per distinct stack, `process;root;…;leaf N`, in byte order.
// flamegraph.pl, inferno, speedscope, the Firefox Profiler and others read it.
//
// By default the output equals, byte for byte, that of `perf script | stackcollapse-perf.pl`:
//  - N is the sum of the samples' periods, or the number of samples if they have no periods. (If
//    samples do not carry their period, perf script prints none, and stackcollapse-perf.pl counts
//    samples. Use WeightBy::kSamples to do the same.)
//  - Only one event: the first that has samples.
//  - Names are shortened according to function_names.h, which removes parameters and some frames.
//    NameStyle::kFull keeps every frame and its whole name instead.
// The output differs only for code of deleted files, because stackcollapse-perf.pl garbles their
// names.
//
// The functions have no side effects. Memory is bounded by the number of distinct stacks; time is
// linear in the stacks and in the output.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "src/profile/profile.h"
#include "src/views/flamegraph/call_tree.h"

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

// Passes the text to `write` in pieces of whole lines.
void WriteFolded(const profile::Profile& profile, const FoldedOptions& options,
                 absl::FunctionRef<void(std::string_view lines)> write);

std::string Folded(const profile::Profile& profile, const FoldedOptions& options = {});

}  // namespace profiler::exports
