#include "src/cli/files/export_recording.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/file_access.h"
#include "src/base/file_id.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/files/load_for_export.h"
#include "src/cli/terminal/output.h"
#include "src/format/perf_data/read/recording.h"
#include "src/profile/naming/collect_names.h"

namespace profiler::cli {
namespace {

// Returns the sums of the samples, so that views of a recording with many samples start at once.
std::optional<std::string> SumsOf(const std::string& path) {
  if (!perf_data::CanBeReadAgain(path)) return std::nullopt;
  const auto recording = perf_data::Recording::Open(path);
  if (!recording.ok()) return std::nullopt;
  return naming::CollectNames(**recording, naming::Embedding::kNames, {},
                              [](std::string_view, size_t, size_t) { return true; })
      .sums;
}

// Returns the header's facts about the machine and the command. Omits the facts about the file,
// because they are not true for the new file.
perf_data::Features HeaderOf(const perf_data::Features& from) {
  perf_data::Features features;
  features.hostname = from.hostname;
  features.osrelease = from.osrelease;
  features.arch = from.arch;
  features.cpudesc = from.cpudesc;
  features.nrcpus = from.nrcpus;
  features.cmdline = from.cmdline;
  features.clock_data = from.clock_data;
  return features;
}

}  // namespace

absl::Status CheckRecordingOutput(const std::string& path, const std::string& input,
                                  std::string_view what) {
  PROFILER_RETURN_IF_ERROR(CheckStreamOutput(path));
  if (path == "-" || input == "-") return absl::OkStatus();
  FileAccess own;  // for names from the user, which may refer to descriptors of this process
  const auto read = own.FileIdOf(input);
  if (!read || read != own.FileIdOf(path)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("-o ", path, " is the ", View(what), " is the input; write to another file"));
}

absl::StatusOr<importers::WrittenProfile> WriteRecordingOf(const profile::Profile& profile,
                                                           const std::string& path,
                                                           perf_data::Features features,
                                                           importers::WriteProfileOptions options) {
  options.features = std::move(features);
  options.sums = [&] { return SumsOf(path); };
  return importers::WriteProfile(profile, path, options);
}

int ExportRecording(const ExportRequest& request) {
  const absl::Status usage = CheckRecordingOutput(request.path, request.view.input, "recording");
  if (!usage.ok()) {
    PrintError(usage);
    return kExitUsage;
  }
  const auto loaded = LoadForExport(request, /*times=*/true);
  if (const int* exit_code = std::get_if<int>(&loaded)) return *exit_code;
  const LoadedView& from = *std::get<std::unique_ptr<const LoadedView>>(loaded);
  const auto written =
      WriteRecordingOf(from.profile, request.path, HeaderOf(from.recording->features()));
  if (!written.ok()) {
    PrintError(written.status());
    return kExitFailure;
  }
  for (const std::string& warning : written->warnings) PrintWarning(warning);
  if (!from.reading.ok()) PrintError(from.reading);
  PrintNote(absl::StrFormat("profiler export: %d samples, %.3f MB in %s", written->samples,
                            static_cast<double>(written->bytes) / 1e6,
                            request.path == "-" ? "standard output" : request.path));
  return from.reading.ok() ? kExitOk : kExitFailure;
}

}  // namespace profiler::cli
