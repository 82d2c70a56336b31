// What stands above a report: facts about the recording and the machine, and counts of its records.
// The layouts are those of `perf report --header` and `perf report --stats`
// (tools/perf/util/header.c, tools/perf/util/hist.c; Linux 7.2). The values are handed in: a report
// knows no file format.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profiler::report {

// An event as the header describes it.
struct EventDescription {
  std::string name;
  std::vector<uint64_t> ids;
  // What its attributes say, e.g. {"type", "1 (PERF_TYPE_SOFTWARE)"}, in the order shown.
  std::vector<std::pair<std::string, std::string>> fields;
};

// Empty and unset values leave out their lines.
struct RecordingHeader {
  std::string captured_on;  // as ctime(3) has it, without the line break
  uint32_t version = 1;
  uint64_t data_offset = 0;  // in the file, bytes; 0: this and the next two are not known
  uint64_t data_size = 0;
  uint64_t features_offset = 0;
  std::string hostname;
  std::string os_release;
  std::string perf_version;
  std::string arch;
  std::optional<uint32_t> cpus_online;
  std::optional<uint32_t> cpus_available;
  std::string cpu_description;
  std::string cpuid;
  std::optional<uint64_t> total_memory_kb;
  std::vector<std::string> command_line;
  std::vector<EventDescription> events;
  std::optional<uint64_t> clock_resolution_ns;
  std::string clock;           // e.g. "monotonic (1)"
  std::string reference_time;  // one instant on the wall clock and on the recording's clock
  std::optional<uint64_t> first_sample_ns;
  std::optional<uint64_t> last_sample_ns;
  // Lines about further features of the file, without "# " in front, by the feature's number: that
  // is the order in which they stand, these and the above.
  std::map<int, std::vector<std::string>> features;
  std::vector<std::string> missing_features;
};

// The block between two lines of "# ========".
std::string FormatRecordingHeader(const RecordingHeader& header);

// The line that stands there instead when nobody asked for the header.
std::string_view RecordingHeaderHint();

// A kind of record and how many there were: {"SAMPLE", 5323}.
struct RecordCount {
  std::string name;
  uint64_t count = 0;
  uint64_t lost_samples = 0;  // of an event: as its LOST_SAMPLES records say
};

// `perf report --stats`: all records, then the samples of each event. Zero counts are left out, the
// order is kept.
std::string FormatStats(const std::vector<RecordCount>& records,
                        const std::vector<RecordCount>& samples_by_event);

}  // namespace profiler::report
