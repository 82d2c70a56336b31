// Dumps a recording as text, for debugging a file: header, events, feature sections, and every
// record with its offset, header and decoded fields.
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
#include "src/format/perf_data/read/recording.h"

namespace profiler::perf_data {

struct DumpOptions {
  std::vector<uint32_t> types;        // only records of these types; empty: all
  uint64_t max_records = UINT64_MAX;  // stop after this number of records of `types`
  bool hex = false;                   // also dump each record's bytes, header included
};

// Returns the number of a record type, given by name in any case ("mmap2") or as a number. Error:
// kInvalidArgument, which quotes `name`.
absl::StatusOr<uint32_t> ParseRecordType(std::string_view name);

// Writes the dump of `recording` to `sink`, piece by piece, in the order of the file. Returns the
// status of ForEach; everything that could be read has been written by then. Memory does not grow
// with the recording. Reading stops at the last record that was requested. The end of the dump
// counts the records of unknown types that were read.
absl::Status Dump(Recording& recording, const DumpOptions& options,
                  absl::FunctionRef<void(std::string_view)> sink);

}  // namespace profiler::perf_data
