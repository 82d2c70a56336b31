#include "src/cli/view.h"

#include "src/cli/command.h"
#include "src/import/open_recording.h"

namespace profiler::cli {

std::optional<naming::LoadedProfile> LoadProfileOrPrint(const std::string& path,
                                                        const naming::LoadOptions& options) {
  auto loaded = naming::LoadProfile(path, options);
  if (loaded.ok()) return *std::move(loaded);
  PrintError(loaded.status());
  return std::nullopt;
}

std::unique_ptr<perf_data::Recording> OpenRecordingOrPrint(const std::string& path) {
  auto recording = import::OpenRecording(path);
  if (recording.ok()) return *std::move(recording);
  PrintError(recording.status());
  return nullptr;
}

void PrintRefusedFiles(const profile::Profile& profile, bool lists_each) {
  for (const std::string& line : naming::RefusedFiles(profile, lists_each)) PrintWarning(line);
}

int WriteHeaderAlone(const std::string& path, HeaderDetail detail) {
  const auto recording = OpenRecordingOrPrint(path);
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
  if (!reading.ok()) PrintError(reading);
  if (!written.ok()) PrintError(written);
  return reading.ok() && written.ok() ? kExitOk : kExitFailure;
}

int Finish(const naming::LoadedProfile& loaded, Output& output, bool lists_refused) {
  PrintRefusedFiles(loaded.profile, lists_refused);
  return Finish(*loaded.recording, loaded.reading, output);
}

}  // namespace profiler::cli
