// Where a profile comes from, as formats of other programs say it beside the samples.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::exports {

struct Origin {
  std::string command;               // of the recorder; empty: unknown, here and below
  std::vector<std::string> program;  // the command that was recorded
  std::string hostname;
  std::string machine;   // "x86_64"
  std::string os;        // "Linux 6.18.5"
  std::string producer;  // this program, with its version
  // Of the samples' clock, in nanoseconds; 0: unknown.
  uint64_t first_sample = 0, last_sample = 0;
  // The time since 1970 at which that clock stood at 0, in nanoseconds.
  std::optional<int64_t> clock_started;
  // The htlhash (src/image_ids/htlhash.h) of the file of an image without a build-id; empty if that
  // is not known. Null: of none.
  std::function<std::string(const profile::Dso& dso)> htlhash_of;

  // Nanoseconds since 1970; 0 where it is not known.
  int64_t WallClockOf(uint64_t time) const {
    return clock_started ? *clock_started + static_cast<int64_t>(time) : 0;
  }
};

}  // namespace profiler::exports
