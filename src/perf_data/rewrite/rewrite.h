// Writes a recording anew: as a file or as a stream, compressed or not, whole or a part of it.
//
// What is not asked to change stays as it is, byte for byte: the recording's byte order, attrs and
// their unknown tails, records of unknown types, traces, feature sections. Nothing is decoded but
// what says where things are. So:
//
//   input               output    what is made anew
//   file                file      data.size; where the sections are
//   file                stream    HEADER_ATTR, EVENT_UPDATE, HEADER_FEATURE … from the header
//   stream              file      the header from these records, which are left out
//   stream              stream    nothing
//   directory           either    one file of all; rounds are left out, for they hold in each file
//   AUXTRACE index                in files: where the AUXTRACE records are now
//   compressed          either    stays compressed as it is, unless it is cut or asked otherwise
//
// A stream has no place for some sections (perf_data_format.h, kCarrierConfig), and pads the others
// with zeroes to 8 bytes.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/perf_data/format/time_range.h"

namespace profiler::perf_data {

struct RewriteOptions {
  bool as_stream = false;  // "-" and what cannot be sought get a stream in any case
  enum class Compression { kKeep, kNone, kZstd };
  Compression compression = Compression::kKeep;
  int level = 1;  // of kZstd, 1 to 22

  // What to keep of the samples, and of the other records that are measurements (THROTTLE, READ,
  // SWITCH, LOST, AUX …): those in the range, and of these threads or processes. Records that say
  // what things are (MMAP, COMM, FORK, KSYMBOL …) stay up to the end of the range, those of all
  // processes, so names remain right. So do perf's own records, records of unknown types and
  // records without a time.
  std::optional<TimeRange> time;
  std::vector<uint32_t> pids, tids;  // one of either suffices; both empty: all

  // Sections to put in, or in the place of those that are there, by feature bit.
  std::map<int, std::string> sections;

  bool cuts() const { return time.has_value() || !pids.empty() || !tids.empty(); }
};

struct RewriteSummary {
  uint64_t samples = 0, dropped_samples = 0;  // not counted where compressed data stays as it is
  uint64_t bytes = 0;                         // of the output
  bool counted = true;
  std::vector<std::string> warnings;  // for a person: a cut input, and the like
  // What ended the reading early, as Recording::ForEach has it. What was before it is written.
  absl::Status reading;
};

// Reads `from` ("-": standard input) and writes `to` ("-": standard output). A regular file gets
// its name when it is whole, and an old one of that name is kept as to + ".old" then, so `to` may
// be `from`; after an error, or when a signal ends the process, both are as they were. A stream
// that comes through a pipe is put into an unnamed temporary file first. Errors: those of opening
// and of writing; kInvalidArgument when samples have no time, or no thread, and are to be cut by
// it; what ended the reading early, where `to` is `from`. Memory: that of the feature sections.
absl::StatusOr<RewriteSummary> Rewrite(const std::string& from, const std::string& to,
                                       const RewriteOptions& options);

}  // namespace profiler::perf_data
