// Formats the text above a report: facts about the recording and the machine, and counts of its
// records. The layouts are those of `perf report --header` and `perf report --stats`
// (tools/perf/util/header.c, tools/perf/util/hist.c; Linux 7.2). Callers pass the values, so that a
// report depends on no file format.

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
  // The attributes in the order shown, e.g. {"type", "1 (PERF_TYPE_SOFTWARE)"}.
  std::vector<std::pair<std::string, std::string>> fields;
};

// The values of a header. Empty and unset values omit their lines.
struct RecordingHeader {
  std::string captured_on;  // text of ctime(3) without its line break
  uint32_t version = 1;
  uint64_t data_offset = 0;  // offset in the file, bytes; 0: all three numbers are unknown
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
  std::string reference_time;  // one instant as shown by the wall clock and by the recording's
  std::optional<uint64_t> first_sample_ns;
  std::optional<uint64_t> last_sample_ns;
  // Lines about further features of the file, without the leading "# ". Keyed by feature number;
  // all features are printed in order of their numbers.
  std::map<int, std::vector<std::string>> features;
  std::vector<std::string> missing_features;
};

// Returns the block between two lines of "# ========".
std::string FormatRecordingHeader(const RecordingHeader& header);

// Returns the line that is printed in place of a header that was not requested.
std::string_view RecordingHeaderHint();

// A kind of record and its number: {"SAMPLE", 5323}.
struct RecordCount {
  std::string name;
  uint64_t count = 0;
  uint64_t lost_samples = 0;  // number of samples in the event's LOST_SAMPLES records
};

// Returns the text of `perf report --stats`: all records, then the samples of each event, in the
// given order. Omits zero counts.
std::string FormatStats(const std::vector<RecordCount>& records,
                        const std::vector<RecordCount>& samples_by_event);

}  // namespace profiler::report
