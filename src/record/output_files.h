// Names the files of a recording that goes into several, and removes the oldest ones.
//
//   perf.data                    the file that is being written
//   perf.data.2026112307450240   a complete file: local time of its completion, with hundredths
//
// A flight recorder writes perf.data.part instead of perf.data.

#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>

#include "src/base/status.h"

namespace profiler::record {

// The names of the files. Use it from one thread.
class OutputFiles {
 public:
  // `path` is a regular file or does not exist. At most `most` complete files are kept; 0: all.
  OutputFiles(std::string path, size_t most) : OutputFiles(path, most, path) {}
  // `written` is the path of the file that is being written, in the same directory.
  OutputFiles(std::string path, size_t most, std::string written)
      : path_(std::move(path)), most_(most), written_(std::move(written)) {}

  // Renames the file that is being written and returns its new name. The new name contains a time
  // in hundredths of a second. It is `now`, or the first time after `now` that is later than the
  // times of all former names and whose name is unused. Errors: those of
  // perf_data::RenameInDirectory; the file then keeps its name.
  absl::StatusOr<std::string> PutAside(std::chrono::system_clock::time_point now);
  // Removes the oldest complete files until at most `most` are left. A file that is already gone is
  // no error. Errors: those of unlink(2); such a file is not tried again.
  absl::Status RemoveOldest();

 private:
  const std::string path_;
  const size_t most_;
  const std::string written_;
  std::chrono::system_clock::time_point latest_;  // time in the last name
  std::deque<std::string> complete_;              // names of complete files, the oldest first
};

}  // namespace profiler::record
