// Whether a process that runs now is the one that was recorded: numbers of processes come again.
//
//   recording      ├─ 7 began ── seen ── executes ── ended ─┤
//   now                                                       7 began ──▶   is another process
//
// What belongs to a process, its root directory, what it has mapped, whose files it may name code
// by, is asked for here alone, and of the recorded process alone.

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace profiler::symbolize {

// Which process is meant: the number, and which life of that number within the recording. A life
// begins where a process is forked or executes another program. The first one is the number itself.
// Lives beyond the last number that there is room for are all that last one.
constexpr uint32_t kPidBits = 22;  // PID_MAX_LIMIT, include/linux/threads.h, Linux 6.18
constexpr uint32_t kMostLives = uint32_t{1} << (32 - kPidBits);
constexpr uint32_t ProcessKey(uint32_t pid, uint32_t life) {
  return pid >> kPidBits != 0 ? pid : pid | life << kPidBits;
}
constexpr uint32_t PidOf(uint32_t process) { return process & ((uint32_t{1} << kPidBits) - 1); }

// What a recording says of one life. Times are in nanoseconds of CLOCK_REALTIME.
struct ProcessLife {
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();

  int64_t began = kUnknown;  // when the life began; unknown of one from before the recording
  int64_t seen = kUnknown;   // when the process lived, so it had begun by then
  int64_t over = kUnknown;   // when the last thread that is known to have ended did, or the program
                             // was replaced
  bool is_replaced = false;  // by another program, in the same process
  bool has_ended = false;    // a thread of the process has; others may run on, unless it is unknown
                             // when that was

  bool operator==(const ProcessLife&) const = default;
};

// When the process of the directory /proc/PID began, in nanoseconds of CLOCK_REALTIME as it goes
// now. Empty where there is none.
std::optional<int64_t> BeginOfProcess(const std::string& directory);

// How far the times that are compared may be wrong: those of processes are in ticks of 10 ms, those
// of files in ticks of the kernel.
constexpr int64_t kTimeSlack = 20'000'000;

// Whether the process that has the directory now is the one that lived then. Where nothing is known
// of the life it is taken for that. Cost: reading a file in /proc.
bool IsStillThere(const std::string& directory, const ProcessLife& life);

}  // namespace profiler::symbolize
