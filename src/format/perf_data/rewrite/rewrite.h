// Copies a recording as a file or as a stream, compressed or not, whole or a part of it.
//
// Everything that need not change is copied byte for byte: the recording's byte order, attrs and
// their unknown tails, records of unknown types, traces, feature sections. Only data that contains
// positions is decoded. The following is rebuilt:
//
//   input               output    rebuilt
//   file                file      data.size; offsets of the sections
//   file                stream    HEADER_ATTR, EVENT_UPDATE, HEADER_FEATURE … from the header
//   stream              file      the header from these records, which are dropped
//   stream              stream    nothing
//   directory           either    one recording of all its files, without their round markers
//   AUXTRACE index                in files: the new offsets of AUXTRACE records
//   compressed          either    copied compressed, unless it is cut or the options say otherwise
//
// Some sections cannot be in a stream (perf_data_format.h, kCarrierConfig); the others are padded
// with zeroes to 8 bytes.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/format/perf_data/format/time_range.h"

namespace profiler::perf_data {

struct RewriteOptions {
  bool as_stream = false;  // "-" and outputs that cannot seek always get a stream
  enum class Compression { kKeep, kNone, kZstd };
  Compression compression = Compression::kKeep;
  int level = 1;  // zstd's level for kZstd, 1 to 22

  // Selects measurements (SAMPLE, THROTTLE, READ, SWITCH, LOST, AUX …) by time and by thread or
  // process. All other records are kept, so that names stay right: perf's own records, records of
  // unknown types, and records without a time. Records that describe a process or the kernel (MMAP,
  // COMM, FORK, KSYMBOL …) are kept for all processes, up to the end of the range.
  std::optional<TimeRange> time;
  std::vector<uint32_t> pids, tids;  // a measurement must match one; both empty: all match

  // Sections to add or replace, keyed by feature bit.
  std::map<int, std::string> sections;

  // Called now and then with the bytes of records that were read, and those of the whole input; 0 if
  // these are unknown. Each pass over the input begins at 0. Empty: progress is not reported.
  std::function<void(uint64_t done, uint64_t all)> on_progress;

  bool cuts() const { return time.has_value() || !pids.empty() || !tids.empty(); }
};

struct RewriteSummary {
  uint64_t samples = 0, dropped_samples = 0;  // not counted if compressed data is copied
  uint64_t bytes = 0;                         // size of the output
  // True if samples were counted.
  bool counted = true;
  std::vector<std::string> warnings;  // lines for a person, for example about a truncated input
  // The error that ended the reading early, as Recording::ForEach returns it. Everything before it
  // is written.
  absl::Status reading;
};

// Reads `from` ("-": standard input) and writes `to` ("-": standard output). A regular file gets
// its name only when it is complete, and an existing file is renamed to `to`.old. So `to` may be
// the same file as `from`. After an error or a signal, `from` and the existing `to` are unchanged.
// A stream from a pipe is copied to an unnamed temporary file first. Errors: those of opening and
// writing; kInvalidArgument if samples lack the time or thread by which they are selected. If `to`
// is `from`, the error that ended the reading early is returned, too. Memory: that of the feature
// sections.
absl::StatusOr<RewriteSummary> Rewrite(const std::string& from, const std::string& to,
                                       const RewriteOptions& options);

}  // namespace profiler::perf_data
