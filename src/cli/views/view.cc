#include "src/cli/views/view.h"

#include <algorithm>
#include <vector>

#include "src/cli/command.h"
#include "src/cli/fleet/fleet_recording.h"
#include "src/cli/terminal/written_file.h"
#include "src/format/perf_data/format/aux_data.h"
#include "src/format/perf_event/abi.h"
#include "src/importers/open_recording.h"

namespace profiler::cli {

std::unique_ptr<const LoadedView> LoadProfileOrPrint(const std::string& path,
                                                     const ViewOptions& options) {
  auto loaded = LoadView(path, options);
  if (loaded.ok()) return *std::move(loaded);
  PrintError(loaded.status());
  return nullptr;
}

std::unique_ptr<perf_data::Recording> OpenRecordingOrPrint(
    const std::string& path, std::optional<importers::Format> format) {
  auto recording = importers::OpenRecording(path, OpenOptionsFor(format));
  if (recording.ok()) return *std::move(recording);
  PrintError(recording.status());
  return nullptr;
}

std::unique_ptr<perf_data::Recording> OpenInAdvance(const std::string& path) {
  if (!perf_data::CanBeReadAgain(path) || !perf_data::BeginsAsRecording(path)) return nullptr;
  auto recording = perf_data::Recording::Open(path);
  return recording.ok() ? *std::move(recording) : nullptr;
}

void PrintRefusedFiles(const profile::Profile& profile, bool lists_each) {
  for (const std::string& line : naming::RefusedFiles(profile, lists_each)) PrintWarning(line);
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
  if (written.ok()) PrintWrittenFile(output.path());
  return reading.ok() && written.ok() ? kExitOk : kExitFailure;
}

int Finish(const naming::LoadedProfile& loaded, Output& output, bool lists_refused) {
  PrintRefusedFiles(loaded.profile, lists_refused);
  return Finish(*loaded.recording, loaded.reading, output);
}

}  // namespace profiler::cli
