#include "src/cli/files/describe_recording.h"

#include <sys/stat.h>

#include <array>
#include <ctime>
#include <map>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/base/text.h"
#include "src/cli/recording/recorded_command.h"
#include "src/cli/version.h"
#include "src/format/perf_data/dump/describe_features.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_event/describe.h"

namespace profiler::cli {
namespace {

// Returns the local time as "Sat Nov 21 05:29:54 2026".
std::string CalendarTime(time_t time) {
  std::array<char, 64> text;
  tm local;
  localtime_r(&time, &local);
  text[strftime(text.data(), text.size(), "%a %b %e %H:%M:%S %Y", &local)] = 0;
  return text.data();
}

std::string ClockName(uint32_t clockid) {
  switch (clockid) {
    case CLOCK_REALTIME:
      return "realtime";
    case CLOCK_MONOTONIC:
      return "monotonic";
    case CLOCK_MONOTONIC_RAW:
      return "monotonic_raw";
    case CLOCK_BOOTTIME:
      return "boottime";
    case CLOCK_TAI:
      return "tai";
    default:
      return "unknown";
  }
}

// Returns the wall-clock time and the samples' clock at the same instant.
std::string ReferenceTime(const perf_data::ClockData& data) {
  const time_t seconds = static_cast<time_t>(data.wall_clock_ns / 1000000000);
  tm local;
  localtime_r(&seconds, &local);
  std::array<char, 64> date;
  date[strftime(date.data(), date.size(), "%Y-%m-%d %H:%M:%S", &local)] = 0;
  const uint64_t microseconds = data.wall_clock_ns % 1000000000 / 1000;
  return absl::StrFormat("%s.%06u = %u.%06u (TOD) = %u.%09u (%s)", date.data(), microseconds,
                         data.wall_clock_ns / 1000000000, microseconds,
                         data.clockid_time_ns / 1000000000, data.clockid_time_ns % 1000000000,
                         ClockName(data.clockid));
}

// Replaces each long feature by a line that says that it exists, as perf does without -I.
void ShortenMachine(std::map<int, std::vector<std::string>>& features) {
  constexpr int kLong[] = {perf_data::kFeatureCpuTopology, perf_data::kFeatureNumaTopology,
                           perf_data::kFeatureCache, perf_data::kFeatureMemTopology,
                           perf_data::kFeatureHybridTopology};
  for (const int feature : kLong) {
    const auto lines = features.find(feature);
    if (lines == features.end()) continue;
    const std::string_view name = perf_data::FindFeature(feature)->name;
    lines->second = {absl::StrCat(View(name), " info available, use -I to display")};
  }
}

}  // namespace

report::RecordingHeader DescribeRecording(const std::string& path,
                                          const perf_data::Recording& recording,
                                          HeaderDetail detail) {
  report::RecordingHeader header;
  struct stat status;
  if (path != "-" && stat(path.c_str(), &status) == 0) {
    header.captured_on = CalendarTime(status.st_mtime);
  }
  const perf_data::Features& features = recording.features();
  header.hostname = features.hostname;
  header.os_release = features.osrelease;
  header.perf_version = features.version;
  header.arch = features.arch;
  if (features.nrcpus) {
    header.cpus_online = features.nrcpus->online;
    header.cpus_available = features.nrcpus->available;
  }
  header.cpu_description = features.cpudesc;
  header.cpuid = features.cpuid;
  header.total_memory_kb = features.total_mem_kb;
  header.command_line = features.cmdline;
  for (const perf_data::EventDescription& event : recording.events()) {
    header.events.push_back({event.name, event.ids, perf_event::DescribeAttr(event.attr)});
  }
  if (features.sample_time) {
    header.first_sample_ns = features.sample_time->first;
    header.last_sample_ns = features.sample_time->last;
  }
  header.clock_resolution_ns = features.clockid_resolution_ns;
  if (features.clock_data) {
    header.clock = absl::StrCat(ClockName(features.clock_data->clockid), " (",
                                features.clock_data->clockid, ")");
    header.reference_time = ReferenceTime(*features.clock_data);
  }
  header.features = perf_data::DescribeFeatures(recording);
  if (detail == HeaderDetail::kMachineInBrief) ShortenMachine(header.features);
  const perf_data::FileSection& data = recording.layout().data;
  header.data_offset = data.offset;
  header.data_size = data.size;
  header.features_offset = data.offset + data.size;
  // A stream has no list of features that could be missing.
  if (data.offset != 0) header.missing_features = perf_data::MissingFeatures(recording);
  return header;
}

json::RecordingFacts FactsOf(const std::string& path, const perf_data::Recording& recording) {
  constexpr double kNanosecondsInSecond = 1e9;
  const perf_data::Features& features = recording.features();
  json::RecordingFacts facts{.path = path, .command = absl::StrJoin(features.cmdline, " ")};
  if (const auto& time = features.sample_time) {
    facts.seconds = static_cast<double>(time->last - time->first) / kNanosecondsInSecond;
  }
  return facts;
}

exports::Origin OriginOf(const perf_data::Recording& recording) {
  const perf_data::Features& features = recording.features();
  exports::Origin origin{.command = absl::StrJoin(features.cmdline, " "),
                         .program = RecordedCommand(features.cmdline),
                         .hostname = features.hostname,
                         .machine = features.arch,
                         .producer = kVersion};
  if (!features.osrelease.empty()) origin.os = absl::StrCat("Linux ", features.osrelease);
  if (const auto& time = features.sample_time) {
    origin.first_sample = time->first;
    origin.last_sample = time->last;
  }
  if (const auto& clock = features.clock_data) {
    origin.clock_started =
        static_cast<int64_t>(clock->wall_clock_ns) - static_cast<int64_t>(clock->clockid_time_ns);
  }
  return origin;
}

}  // namespace profiler::cli
