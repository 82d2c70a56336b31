// The files of a recording that goes into several: what they are called, and which are kept.
//
//   perf.data                    the one that is written to
//   perf.data.2026112307450240   a complete one, by when it became that: local time and hundredths

#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>

#include "src/base/status.h"

namespace profiler::record {

// One thread.
class OutputFiles {
 public:
  // `path` is a regular file, or none yet. At most `most` complete ones are kept; 0: all.
  OutputFiles(std::string path, size_t most) : path_(std::move(path)), most_(most) {}

  // Renames the file that is written to and returns its name from now on: that of this hundredth
  // of a second, or of the next one after all before it that names no file. Errors: those of
  // rename(2); nothing has changed then.
  absl::StatusOr<std::string> PutAside(std::chrono::system_clock::time_point now);
  // Removes the oldest ones as far as there are more than are to be kept. One that somebody else
  // has removed is no error. Errors: those of unlink(2), and the file is not thought of again.
  absl::Status RemoveOldest();

 private:
  const std::string path_;
  const size_t most_;
  std::chrono::system_clock::time_point latest_;  // in the name of the last one
  std::deque<std::string> complete_;              // the oldest first
};

}  // namespace profiler::record
