#include "src/cli/files/export_formats.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/files/describe_recording.h"
#include "src/cli/files/export_recording.h"
#include "src/cli/files/load_for_export.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/flame_view.h"
#include "src/cli/views/page_view.h"
#include "src/cli/views/view.h"
#include "src/machine/image_ids/mapped_files.h"
#include "src/views/interchange/callgrind.h"
#include "src/views/interchange/chrome_trace.h"
#include "src/views/interchange/firefox.h"
#include "src/views/interchange/otlp.h"
#include "src/views/interchange/pprof.h"
#include "src/views/interchange/speedscope.h"
#include "symbolize/process_life.h"

namespace profiler::cli {
namespace {

using exports::Origin;
using profile::Profile;

Exported WritePprof(const Profile& profile, const Origin& origin) {
  return {exports::Pprof(profile, origin), ""};
}

Exported WriteFirefox(const Profile& profile, const Origin& origin) {
  return {exports::Firefox(profile, origin), ""};
}

Exported WriteSpeedscope(const Profile& profile, const Origin& origin) {
  exports::SpeedscopeFile file = exports::Speedscope(profile, origin);
  return {std::move(file.text),
          file.in_time_order
              ? ""
              : "the file does not keep the order of samples, because samples are merged by stack"};
}

Exported WriteCallgrind(const Profile& profile, const Origin& origin) {
  return {exports::Callgrind(profile, origin), ""};
}

Exported WriteChromeTrace(const Profile& profile, const Origin& origin) {
  exports::ChromeTraceFile file = exports::ChromeTrace(profile, origin);
  std::string note;
  if (file.left_out != 0) {
    note = absl::StrFormat(
        "%d calls that are shorter than %.3f ms are left out, because viewers cannot show more",
        file.left_out, static_cast<double>(file.shortest) / 1e6);
  }
  return {std::move(file.text), std::move(note)};
}

Exported WriteOtlp(const Profile& profile, const Origin& origin) {
  return {exports::Otlp(profile, origin), ""};
}

FlameGraphArguments FlameArgumentsOf(const ExportRequest& request) {
  FlameGraphArguments arguments{.view = request.view, .needs_samples = true};
  arguments.view.event = request.event;
  arguments.view.output = request.path;
  return arguments;
}

int ExportFolded(const ExportRequest& request) {
  return WriteFoldedText(FlameArgumentsOf(request));
}

int ExportFlameGraph(const ExportRequest& request) {
  return WriteFlamePicture(FlameArgumentsOf(request));
}

int WriteExportPage(const ExportRequest& request) {
  return WritePage(request.view, {.output = request.path, .event = request.event});
}

constexpr std::array<std::string_view, 3> kPprofEndings = {".pb.gz", ".pprof", ".pprof.gz"};
constexpr std::array<std::string_view, 1> kFirefoxEndings = {".json.gz"};
constexpr std::array<std::string_view, 1> kSpeedscopeEndings = {".speedscope.json"};
constexpr std::array<std::string_view, 1> kCallgrindEndings = {".callgrind"};
constexpr std::array<std::string_view, 1> kChromeEndings = {".trace.json"};
constexpr std::array<std::string_view, 1> kOtlpEndings = {".otlp"};
constexpr std::array<std::string_view, 1> kFoldedEndings = {".folded"};
constexpr std::array<std::string_view, 1> kSvgEndings = {".svg"};
constexpr std::array<std::string_view, 1> kRecordingEndings = {".data"};

// The table of formats. A new format needs a line here, and one in docs/export.md.
constexpr ExportFormat kFormats[] = {
    {"pprof", kPprofEndings, false, false, false, WritePprof},
    {"firefox", kFirefoxEndings, true, false, false, WriteFirefox},
    {"speedscope", kSpeedscopeEndings, true, false, true, WriteSpeedscope},
    {"callgrind", kCallgrindEndings, false, false, true, WriteCallgrind},
    {"chrome", kChromeEndings, true, false, true, WriteChromeTrace},
    {"otlp", kOtlpEndings, true, true, false, WriteOtlp},
    {.name = "folded", .endings = kFoldedEndings, .run = ExportFolded},
    {.name = "svg", .endings = kSvgEndings, .run = ExportFlameGraph},
    {.name = "html", .endings = kPageEndings, .run = WriteExportPage},
    {.name = "perf.data", .endings = kRecordingEndings, .run = ExportRecording},
};

// Sets the times from the samples if the recording's header has none.
void SetSampleTimes(const Profile& profile, Origin& origin) {
  if (origin.last_sample != 0 || profile.quanta.begins.empty()) return;
  const auto [first, last] =
      std::minmax_element(profile.quanta.begins.begin(), profile.quanta.begins.end());
  origin.first_sample = *first;
  origin.last_sample = *last;
}

// Lets exports identify files, unless the recording is from another machine or does not contain its
// end time.
void SetFiles(const LoadedView& from, const image_ids::MappedFiles& mapped, Origin& origin) {
  utsname machine;
  if (uname(&machine) != 0 || origin.hostname != machine.nodename || !origin.clock_started) return;
  const int64_t end = origin.WallClockOf(origin.last_sample);
  origin.htlhash_of = [&from, &mapped, end](const profile::Image& image) {
    return mapped.HtlhashOf(from.profile.text(image.long_name), symbolize::PidOf(image.pid), end);
  };
}

absl::Status CheckExportOutput(const ExportRequest& request, const ExportFormat& format) {
  PROFILER_RETURN_IF_ERROR(CheckViewOutput(request.path, request.view.input));
  return format.is_text ? absl::OkStatus() : CheckStreamOutput(request.path);
}

}  // namespace

std::span<const ExportFormat> ExportFormats() { return kFormats; }

const ExportFormat* FindExportFormat(std::string_view name, std::string_view path) {
  for (const ExportFormat& format : kFormats) {
    if (!name.empty() && format.name == name) return &format;
    if (!name.empty()) continue;
    for (const std::string_view ending : format.endings) {
      if (path.ends_with(ending)) return &format;
    }
  }
  return nullptr;
}

const ExportFormat* FormatOfView(std::string_view path) {
  const ExportFormat* const format = FindExportFormat("", path);
  return format == nullptr || format->run == ExportRecording ? nullptr : format;
}

std::string ExportFormatList() {
  return absl::StrJoin(kFormats, ", ", [](std::string* out, const ExportFormat& format) {
    absl::StrAppend(out, View(format.name), " (", View(format.endings.front()), ")");
  });
}

int Export(const ExportRequest& request, const ExportFormat& format) {
  if (format.run != nullptr) return format.run(request);
  if (const absl::Status refused = CheckExportOutput(request, format); !refused.ok()) {
    PrintError(refused);
    return kExitUsage;
  }
  image_ids::MappedFiles mapped;
  const auto take_mappings = [&](const perf_data::Recording& recording,
                                 const perf_data::TimedRecord& timed) {
    mapped.Add(timed.record, recording.events()[timed.event].layout);
  };
  auto loaded = format.wants_files ? LoadForExport(request, format.wants_times, take_mappings)
                                   : LoadForExport(request, format.wants_times);
  if (const int* exit_code = std::get_if<int>(&loaded)) return *exit_code;
  const LoadedView& from = *std::get<std::unique_ptr<const LoadedView>>(loaded);
  Origin origin = OriginOf(*from.recording);
  SetSampleTimes(from.profile, origin);
  if (format.wants_files) SetFiles(from, mapped, origin);
  const Exported exported = format.write(from.profile, origin);
  Output output(request.path);
  if (format.is_text) {
    output.Write(exported.bytes);
  } else {
    output.WriteBytes(exported.bytes);
  }
  const int exit_code = Finish(from, output);
  if (!exported.note.empty()) PrintNote(exported.note);
  return exit_code;
}

}  // namespace profiler::cli
