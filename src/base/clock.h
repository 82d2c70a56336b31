// Reads the kernel's clocks as nanoseconds.

#pragma once

#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

namespace profiler {

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr int64_t kSecondsOfDay = 86'400;

// Returns a time as nanoseconds, also one of before 1970.
constexpr int64_t Nanoseconds(const timespec& time) {
  return time.tv_sec * kNanosecondsPerSecond + time.tv_nsec;
}

// Returns the present time of a clock of clock_gettime(2); 0 if the kernel lacks this clock.
inline int64_t ReadClock(clockid_t clock) {
  timespec now{};
  return clock_gettime(clock, &now) == 0 ? Nanoseconds(now) : 0;
}

// Returns the time of CLOCK_MONOTONIC, the clock of most samples.
inline uint64_t MonotonicNow() { return static_cast<uint64_t>(ReadClock(CLOCK_MONOTONIC)); }

// Returns the time of this many clock ticks, the unit of times in /proc. Source: proc(5).
inline std::chrono::nanoseconds ClockTicks(int64_t ticks) {
  const int64_t per_second = sysconf(_SC_CLK_TCK);
  return std::chrono::nanoseconds(ticks / per_second * kNanosecondsPerSecond +
                                  ticks % per_second * (kNanosecondsPerSecond / per_second));
}

// Returns the CPU time of all threads of a process; 0 if there is no such process.
inline std::chrono::nanoseconds CpuTimeOf(pid_t pid) {
  clockid_t clock = 0;
  if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0) return {};
  return std::chrono::nanoseconds(ReadClock(clock));
}

}  // namespace profiler
