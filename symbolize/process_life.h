// Decides whether a process that runs now is the recorded one, because pids are reused.
//
//   recording      ├─ 7 began ── seen ── executes ── ended ─┤
//   now                                                       7 began ──▶   is another process
//
// Everything that belongs to a process (root directory, mapped files, perf map) is looked up only
// after this check.

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace profiler::symbolize {

// A key for one life of a process: its pid, and the number of the life within the recording. A life
// begins when a process is forked or executes another program. The key of the first life is the
// pid. Lives beyond kMostLives share the last number.
constexpr uint32_t kPidBits = 22;  // PID_MAX_LIMIT, include/linux/threads.h, Linux 6.18
constexpr uint32_t kMostLives = uint32_t{1} << (32 - kPidBits);
constexpr uint32_t ProcessKey(uint32_t pid, uint32_t life) {
  return pid >> kPidBits != 0 ? pid : pid | life << kPidBits;
}
constexpr uint32_t PidOf(uint32_t process) { return process & ((uint32_t{1} << kPidBits) - 1); }

// Facts of a recording about one life. Times are in nanoseconds of CLOCK_REALTIME.
struct ProcessLife {
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();

  int64_t began = kUnknown;  // time at which the life began; unknown if before the recording
  int64_t seen = kUnknown;   // a time at which the process was alive
  // Time at which the latest thread ended or another program replaced this one.
  int64_t over = kUnknown;
  bool is_replaced = false;  // true if the process executed another program
  // True if a thread has ended. Then an unknown `over` means that the process may have ended, too.
  bool has_ended = false;

  bool operator==(const ProcessLife&) const = default;
};

// Returns the time at which the process of the directory /proc/PID began, in nanoseconds of
// CLOCK_REALTIME as it is set now. Empty if there is no such process.
std::optional<int64_t> BeginOfProcess(const std::string& directory);

// Largest error of the compared times, in nanoseconds: process times have a resolution of 10 ms,
// file times that of the kernel's tick.
constexpr int64_t kTimeSlack = 20'000'000;

// Returns true if the process that has the directory now is the recorded process. If nothing is
// known about the life, returns true. Cost: reads one file in /proc.
bool IsStillThere(const std::string& directory, const ProcessLife& life);

}  // namespace profiler::symbolize
