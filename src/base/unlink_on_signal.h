// Removes a file if a signal ends the process.

#pragma once

#include <cstddef>
#include <string>

namespace profiler {

// A guard of one file: while it lives, SIGINT, SIGTERM and SIGHUP unlink the file before they end
// the process. A signal that the process ignores, blocks or handles keeps its effect. The first
// object installs the handler, which stays; without any object the handler only ends the process.
//
// Thread-safe. Protects at most 16 files at a time, with paths shorter than PATH_MAX; further files
// are not removed.
class UnlinkOnSignal {
 public:
  explicit UnlinkOnSignal(const std::string& path);
  UnlinkOnSignal(UnlinkOnSignal&& other) noexcept;
  UnlinkOnSignal& operator=(UnlinkOnSignal&& other) = delete;
  ~UnlinkOnSignal();

 private:
  size_t slot_;
};

// Unlinks all these files, for a process that ends at once. Async-signal-safe.
void UnlinkAllNow();

}  // namespace profiler
