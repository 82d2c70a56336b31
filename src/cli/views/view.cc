#include "src/cli/views/view.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/analysis/event_choice.h"
#include "src/analysis/filter.h"
#include "src/analysis/unmatched_filter.h"
#include "src/cli/command.h"
#include "src/cli/fleet/fleet_recording.h"
#include "src/format/perf_data/format/aux_data.h"
#include "src/format/perf_event/abi.h"
#include "src/importers/open_recording.h"

namespace profiler::cli {

std::optional<naming::LoadedProfile> LoadProfileOrPrint(const std::string& path,
                                                        const naming::LoadOptions& options) {
  auto loaded = naming::LoadProfile(path, options);
  if (loaded.ok()) return *std::move(loaded);
  PrintError(loaded.status());
  return std::nullopt;
}

std::unique_ptr<perf_data::Recording> OpenRecordingOrPrint(
    const std::string& path, std::optional<importers::Format> format) {
  auto recording = importers::OpenRecording(path, OpenOptionsFor(format));
  if (recording.ok()) return *std::move(recording);
  PrintError(recording.status());
  return nullptr;
}

void PrintRefusedFiles(const profile::Profile& profile, bool lists_each) {
  for (const std::string& line : naming::RefusedFiles(profile, lists_each)) PrintWarning(line);
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

std::optional<std::string> WhyNothingIsLeft(const naming::LoadOptions& load,
                                            const naming::LoadedProfile& loaded) {
  return loaded.profile.rows.empty() ? WhyNoneIsChosen(load, *loaded.recording)
                                     : analysis::WhyNothingPasses(loaded.profile, load.filter);
}

std::optional<std::string> KeepFiltered(const naming::LoadOptions& load,
                                        naming::LoadedProfile& loaded) {
  std::optional<std::string> reason = WhyNothingIsLeft(load, loaded);
  analysis::KeepOnly(load.filter, loaded.profile);
  return reason;
}

absl::Status KeepEvent(const std::string& name, profile::Profile& profile) {
  if (name.empty()) return absl::OkStatus();
  PROFILER_ASSIGN_OR_RETURN(const auto events, analysis::EventsNamed(profile, name));
  analysis::KeepRows(
      [&](const profile::Row& row) {
        return std::find(events.begin(), events.end(), row.event) != events.end();
      },
      profile);
  return absl::OkStatus();
}

int WriteHeaderAlone(const std::string& path, std::optional<importers::Format> format,
                     HeaderDetail detail) {
  const auto recording = OpenRecordingOrPrint(path, format);
  if (recording == nullptr) return kExitFailure;
  Output output("-", Lines::kFitted);
  output.Write(report::FormatRecordingHeader(DescribeRecording(path, *recording, detail)));
  const absl::Status written = output.Close();
  if (!written.ok()) PrintError(written);
  return written.ok() ? kExitOk : kExitFailure;
}

int Finish(const perf_data::Recording& recording, const absl::Status& reading, Output& output) {
  const absl::Status written = output.Close();
  for (const std::string& warning : recording.warnings()) PrintWarning(warning);
  const bool in_samples = std::ranges::any_of(recording.events(), [](const auto& event) {
    return (event.attr.sample_type & perf_event::kSampleAux) != 0;
  });
  if (const auto undecoded =
          perf_data::UndecodedAuxData(recording.features().aux_data, in_samples)) {
    PrintWarning(*undecoded);
  }
  if (!reading.ok()) PrintError(reading);
  if (!written.ok()) PrintError(written);
  return reading.ok() && written.ok() ? kExitOk : kExitFailure;
}

int Finish(const naming::LoadedProfile& loaded, Output& output, bool lists_refused) {
  PrintRefusedFiles(loaded.profile, lists_refused);
  return Finish(*loaded.recording, loaded.reading, output);
}

}  // namespace profiler::cli
