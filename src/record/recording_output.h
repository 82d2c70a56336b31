// The destination of the records of a recording: files while it runs, or memory until a flight
// recorder writes a file.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/format/perf_data/write/writer.h"
#include "symbolize/unwind/chain_quality.h"

namespace profiler::record {

// The output. Use it from one thread.
class RecordingOutput {
 public:
  virtual ~RecordingOutput() = default;

  // Appends a round: whole records, in pieces. After an error the output has nothing of that round.
  virtual absl::Status Append(std::span<const std::span<const std::byte>> pieces) = 0;
  // Completes the present file and begins the next one. Does nothing if there is no present file.
  virtual absl::Status Next(std::vector<std::string>* notes) = 0;
  // Completes the last file, with or without features. A line of `*notes` says what went wrong
  // without being an error.
  virtual absl::Status Finish(bool with_features, std::vector<std::string>* notes) = 0;

  // Returns the size of the present file, and of all files together.
  virtual uint64_t file_bytes() const = 0;
  virtual uint64_t bytes() const = 0;
  // Returns the number of files, including the present one.
  virtual uint64_t count() const = 0;
  // Returns the writer of the present file, after Finish. Null if there is none: a flight recorder
  // hands out all its files.
  virtual perf_data::Writer* last_file() = 0;
  // Returns the path of the present file; empty if there is none. Finish may change it.
  virtual const std::string& path() const = 0;
  // Returns the quality of the chains of the whole recording.
  virtual ChainQuality chains() const = 0;
};

// Adds the counts of `part` to `*sum`.
void AddQuality(const ChainQuality& part, ChainQuality* sum);

}  // namespace profiler::record
