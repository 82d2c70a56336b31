// What the events are called whose samples are times of threads, with periods in nanoseconds.

#pragma once

#include <string_view>

namespace profiler {

// Off the CPU: of threads that were blocked (perf's name, too), and of threads whose CPU was given
// to another one.
inline constexpr std::string_view kBlockedEvent = "offcpu-time";
inline constexpr std::string_view kPreemptedEvent = "preempted-time";
// On it, where the recording is to have all times.
inline constexpr std::string_view kRunningEvent = "oncpu-time";
// All of them, as one event of a view.
inline constexpr std::string_view kWallClockEvent = "wall-clock";

inline bool IsOffCpuEvent(std::string_view name) {
  return name == kBlockedEvent || name == kPreemptedEvent;
}

}  // namespace profiler
