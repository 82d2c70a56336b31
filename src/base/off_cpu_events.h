// What the events are called whose samples are times off the CPU, with periods in nanoseconds: of
// threads that were blocked (perf's name, too), and of threads whose CPU was given to another one.

#pragma once

#include <string_view>

namespace profiler {

inline constexpr std::string_view kBlockedEvent = "offcpu-time";
inline constexpr std::string_view kPreemptedEvent = "preempted-time";

inline bool IsOffCpuEvent(std::string_view name) {
  return name == kBlockedEvent || name == kPreemptedEvent;
}

}  // namespace profiler
