// Names of the events whose samples are times of threads. Their periods are in nanoseconds.

#pragma once

#include <string_view>

namespace profiler {

// Off-CPU time: of blocked threads (perf uses this name, too), and of threads whose CPU was given
// to another thread.
inline constexpr std::string_view kBlockedEvent = "offcpu-time";
inline constexpr std::string_view kPreemptedEvent = "preempted-time";
// On-CPU time, if the recording includes all times.
inline constexpr std::string_view kRunningEvent = "oncpu-time";
// All of these times, shown as one event.
inline constexpr std::string_view kWallClockEvent = "wall-clock";

inline bool IsOffCpuEvent(std::string_view name) {
  return name == kBlockedEvent || name == kPreemptedEvent;
}

}  // namespace profiler
