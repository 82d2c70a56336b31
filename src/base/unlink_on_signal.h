// Takes a file away when a signal ends the process.

#pragma once

#include <cstddef>
#include <string>

namespace profiler {

// While it lives, SIGINT, SIGTERM and SIGHUP unlink a file before they end the process, as far as
// they end it: a signal that is ignored, blocked or handled stays so. Their handler is there from
// the first such object on; without any of them it only does what the signal would have done.
//
// Thread-safe. Of more than 16 files at a time, or a path that is longer than PATH_MAX, the file
// stays.
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
