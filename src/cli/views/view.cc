#include "src/cli/views/view.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "src/cli/command.h"
#include "src/cli/fleet/fleet_recording.h"
#include "src/cli/terminal/progress.h"
#include "src/cli/terminal/written_file.h"
#include "src/format/perf_data/format/aux_data.h"
#include "src/format/perf_event/abi.h"
#include "src/importers/open_recording.h"

namespace profiler::cli {
namespace {

std::string TextOf(const naming::LoadProgress& progress, const std::string& path) {
  constexpr double kMegabyte = 1e6;
  const auto done = static_cast<double>(progress.done), all = static_cast<double>(progress.all);
  if (progress.step == naming::LoadProgress::Step::kNaming) {
    return absl::StrFormat("Naming: %d of %d addresses", progress.done, progress.all);
  }
  std::string text = absl::StrFormat("Reading %s: %.0f", path, done / kMegabyte);
  if (all != 0) absl::StrAppendFormat(&text, " of %.0f", all / kMegabyte);
  return text + " MB";
}

}  // namespace

std::unique_ptr<const LoadedView> LoadProfileOrPrint(const std::string& path,
                                                     const ViewOptions& options) {
  Progress progress;
  ViewOptions watched = options;
  if (ErrorsAreShownLive()) {
    watched.on_progress = [&](const naming::LoadProgress& at) {
      progress.Show([&] { return TextOf(at, path); });
    };
  }
  auto loaded = LoadView(path, watched);
  progress.Clear();
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
