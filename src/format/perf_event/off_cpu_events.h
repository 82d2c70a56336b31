// Names of the events whose samples measure how long threads wait or run. Their periods are in
// nanoseconds.

#pragma once

#include <string_view>

namespace profiler {

// kBlockedEvent: off-CPU time of blocked threads; perf uses this name, too. kPreemptedEvent:
// off-CPU time of threads whose CPU was given to another thread.
inline constexpr std::string_view kBlockedEvent = "offcpu-time";
inline constexpr std::string_view kPreemptedEvent = "preempted-time";
// On-CPU time. Used if the recording includes both on-CPU and off-CPU times.
inline constexpr std::string_view kRunningEvent = "oncpu-time";
// All of these times, shown as one event.
inline constexpr std::string_view kWallClockEvent = "wall-clock";

inline bool IsOffCpuEvent(std::string_view name) {
  return name == kBlockedEvent || name == kPreemptedEvent;
}

}  // namespace profiler
