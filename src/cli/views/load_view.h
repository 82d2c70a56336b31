// Loads a recording for a view: reads it, names its code, and prepares its profile
// (analysis::Prepare). Views get the result const.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/prepare.h"
#include "src/base/status.h"
#include "src/profile/naming/load_profile.h"

namespace profiler::cli {

// Options of loading, and the steps that prepare the profile.
struct ViewOptions : naming::LoadOptions {
  analysis::Plan plan;
  // Adds steps that depend on the recording. Called once, when the whole recording was read; may be
  // empty.
  std::function<void(const perf_data::Recording&, analysis::Plan&)> complete_plan;
};

// A recording and its prepared profile.
struct LoadedView : naming::LoadedProfile {
  // The reason why the filter, --time or -C leaves no sample, together with the values that occur
  // in the samples; nothing if a sample is left.
  std::optional<std::string> nothing_left;
  // As analysis::PreparedProfile::latencies
  std::vector<std::pair<profile::EventId, profile::EventId>> latencies;
};

// Loads and prepares a recording; shows the progress on a terminal. Errors: those of
// naming::LoadProfile.
absl::StatusOr<std::unique_ptr<const LoadedView>> LoadView(const std::string& path,
                                                           const ViewOptions& options);

// Returns the reason if --time or -C selects no sample of the recording. Returns nothing if neither
// option is given.
std::optional<std::string> WhyNoneIsChosen(const naming::LoadOptions& load,
                                           const perf_data::Recording& recording);

}  // namespace profiler::cli
