// Where a profile comes from, as formats of other programs say it beside the samples.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace profiler::exports {

struct Origin {
  std::string command;  // that was recorded; empty: unknown, here and below
  std::string hostname;
  std::string machine;   // "x86_64"
  std::string os;        // "Linux 6.18.5"
  std::string producer;  // this program, with its version
  // Of the samples' clock, in nanoseconds; 0: unknown.
  uint64_t first_sample = 0, last_sample = 0;
  // The time since 1970 at which that clock stood at 0, in nanoseconds.
  std::optional<int64_t> clock_started;

  // Nanoseconds since 1970; 0 where it is not known.
  int64_t WallClockOf(uint64_t time) const {
    return clock_started ? *clock_started + static_cast<int64_t>(time) : 0;
  }
};

}  // namespace profiler::exports
