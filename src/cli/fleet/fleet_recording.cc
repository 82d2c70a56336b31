#include "src/cli/fleet/fleet_recording.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "src/base/spool.h"
#include "src/cli/files/export_recording.h"
#include "src/cli/fleet/fleet_source.h"
#include "src/cli/terminal/output.h"
#include "src/fleet/query/source_address.h"
#include "src/fleet/segments/profile_of_windows.h"
#include "src/fleet/segments/segment_directory.h"

namespace profiler::cli {
namespace {

constexpr fleet::UnixTime kHour = 3'600'000'000'000;

bool IsDirectory(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// True if the directory contains segments. A recording can also be a directory.
bool HasSegments(const std::string& path) {
  const auto directory = fleet::SegmentDirectory::Open(path);
  if (!directory.ok()) return false;
  const auto files = directory->List(INT64_MIN, INT64_MAX);
  return files.ok() && !files->empty();
}

class Answers final : public importers::RecordingSource {
 public:
  bool IsQuestion(const std::string& path) const override {
    if (IsServer(path)) return true;
    const size_t end = path.find('?');
    if (end != std::string::npos) return IsDirectory(path.substr(0, end));
    return IsDirectory(path) && HasSegments(path);
  }

  absl::StatusOr<UniqueFd> Answer(const std::string& question) override {
    const fleet::UnixTime now = absl::ToUnixNanos(absl::Now());
    PROFILER_ASSIGN_OR_RETURN(
        const fleet::Address address,
        fleet::ParseAddress(question, now, {.since = IsServer(question) ? now - kHour : 0}));
    PROFILER_ASSIGN_OR_RETURN(const auto source,
                              SourceOf(address.source, ServerOptionsOf(address.server)));
    PROFILER_ASSIGN_OR_RETURN(UniqueFd file, OpenUnnamedFile());
    std::vector<std::string> notes;
    const auto written = WriteAnswer(
        *source, question,
        {.selection = address.selection, .tells_times_apart = address.tells_times_apart},
        absl::StrCat("/proc/self/fd/", file.get()), &notes);
    for (const std::string& note : notes) PrintWarning(note);
    if (!written.ok()) return written.status();
    return file;
  }
};

// Returns the header's facts that hold for all windows.
perf_data::Features FeaturesOf(const std::vector<fleet::Window>& windows,
                               const std::string& source) {
  perf_data::Features features;
  features.cmdline = {"profiler", "query", "--from", source};
  const std::string& host = windows.front().host;
  const bool is_of_one =
      std::ranges::all_of(windows, [&](const fleet::Window& of) { return of.host == host; });
  if (is_of_one) features.hostname = host;
  return features;
}

}  // namespace

absl::StatusOr<importers::WrittenProfile> WriteAnswer(fleet::Source& source,
                                                      const std::string& source_name,
                                                      const fleet::StacksQuestion& question,
                                                      const std::string& path,
                                                      std::vector<std::string>* notes) {
  PROFILER_ASSIGN_OR_RETURN(const std::vector<fleet::Window> windows,
                            source.Stacks(question, notes));
  auto written =
      WriteRecordingOf(fleet::ProfileOf(windows), path, FeaturesOf(windows, source_name));
  if (written.ok()) std::ranges::copy(written->warnings, std::back_inserter(*notes));
  return written;
}

importers::OpenOptions OpenOptionsFor(std::optional<importers::Format> format) {
  static Answers answers;
  return {.source = &answers, .format = format};
}  // namespace profiler::cli

}  // namespace profiler::cli
