#include "src/cli/views/load_view.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/cli/terminal/output.h"
#include "src/cli/terminal/progress.h"

namespace profiler::cli {
namespace {

std::string TextOf(const naming::LoadProgress& progress, const std::string& path) {
  if (progress.step == naming::LoadProgress::Step::kNaming) {
    return absl::StrFormat("Naming: %d of %d addresses", progress.done, progress.all);
  }
  return ReadingText(path, progress.done, progress.all);
}

}  // namespace

absl::StatusOr<std::unique_ptr<const LoadedView>> LoadView(const std::string& path,
                                                           const ViewOptions& options) {
  Progress progress;
  ViewOptions watched = options;
  if (!watched.on_progress && ErrorsAreShownLive()) {
    watched.on_progress = [&](const naming::LoadProgress& at) {
      progress.Show([&] { return TextOf(at, path); });
    };
  }
  PROFILER_ASSIGN_OR_RETURN(naming::LoadedProfile loaded, naming::LoadProfile(path, watched));
  analysis::Plan plan = options.plan;
  if (options.complete_plan) options.complete_plan(*loaded.recording, plan);
  const bool has_samples = !loaded.profile.rows.empty();
  analysis::PreparedProfile prepared = analysis::Prepare(std::move(loaded.profile), plan);
  loaded.profile = std::move(prepared.profile);
  std::optional<std::string> nothing_left = has_samples
                                                ? std::move(prepared.nothing_passes)
                                                : WhyNoneIsChosen(options, *loaded.recording);
  return std::make_unique<const LoadedView>(
      LoadedView{std::move(loaded), std::move(nothing_left), std::move(prepared.latencies)});
}

std::optional<std::string> WhyNoneIsChosen(const naming::LoadOptions& load,
                                           const perf_data::Recording& recording) {
  std::vector<std::string> reasons;
  if (!load.cpus.empty()) {
    reasons.push_back(absl::StrCat("on CPU ", absl::StrJoin(load.cpus, " or "), " (-C)"));
  }
  if (!load.times.empty()) reasons.emplace_back("in the time of --time");
  if (reasons.empty()) return std::nullopt;
  std::string text = absl::StrCat("no sample was taken ", absl::StrJoin(reasons, " "));
  const auto& all = recording.features().sample_time;
  if (!load.times.empty() && all && all->last != 0) {
    constexpr double kNanosecondsInASecond = 1e9;
    absl::StrAppendFormat(&text, "; the samples are from %.6f to %.6f s",
                          static_cast<double>(all->first) / kNanosecondsInASecond,
                          static_cast<double>(all->last) / kNanosecondsInASecond);
  }
  return text;
}

}  // namespace profiler::cli
