// The origin of a profile: facts that other formats store beside the samples.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::exports {

struct Origin {
  std::string command;               // of the recorder; in all members, empty means unknown
  std::vector<std::string> program;  // the command that was recorded
  std::string hostname;
  std::string machine;   // "x86_64"
  std::string os;        // "Linux 6.18.5"
  std::string producer;  // this program, with its version
  // Times in the samples' clock, in nanoseconds; 0: unknown.
  uint64_t first_sample = 0, last_sample = 0;
  // Time at which that clock was 0, in nanoseconds since 1970.
  std::optional<int64_t> clock_started;
  // Returns the htlhash (src/machine/image_ids/htlhash.h) of the file of an image without a build-id; empty
  // if it is unknown. Null: no htlhashes.
  std::function<std::string(const profile::Dso& dso)> htlhash_of;

  // Converts a time of that clock to nanoseconds since 1970; 0 if unknown.
  int64_t WallClockOf(uint64_t time) const {
    return clock_started ? *clock_started + static_cast<int64_t>(time) : 0;
  }
};

}  // namespace profiler::exports
