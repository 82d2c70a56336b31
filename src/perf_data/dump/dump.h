// A recording as text for a person who debugs a file: header, events, feature sections, and every
// record with its place, header and decoded fields.
//
//   header
//     version             2
//     …
//   event 0 cpu-clock
//     type                1 (PERF_TYPE_SOFTWARE)
//     …
//   feature 3 HOSTNAME: offset 0x10a8, size 68
//
//   0x1a0: MMAP2 (10) misc 0x2 USER size 104
//       pid               4711
//       …

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/base/status.h"
#include "src/perf_data/read/recording.h"

namespace profiler::perf_data {

struct DumpOptions {
  std::vector<uint32_t> types;        // only records of these; empty: all
  uint64_t max_records = UINT64_MAX;  // of those, the first ones
  bool hex = false;                   // each record's bytes as well, its header included
};

// The number of a record type: by its name in any case ("mmap2"), or as a number. kInvalidArgument
// quotes what is neither.
absl::StatusOr<uint32_t> ParseRecordType(std::string_view name);

// Writes the dump of `recording`, in the order of the file, to `sink`, in pieces. Returns what
// ForEach returns: all that could be read has been written then. Memory does not grow with the
// recording. Nothing is read after the last record that is asked for. At the end stands how many
// records of which types nobody has defined there were, of those that were read.
absl::Status Dump(Recording& recording, const DumpOptions& options,
                  absl::FunctionRef<void(std::string_view)> sink);

}  // namespace profiler::perf_data
