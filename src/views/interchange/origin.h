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
  std::string command;               // command line of the recorder
  std::vector<std::string> program;  // the command that was recorded
  std::string hostname;
  std::string machine;   // "x86_64"
  std::string os;        // "Linux 6.18.5"
  std::string producer;  // this program, with its version
  // Times in the samples' clock, in nanoseconds; 0: unknown.
  uint64_t first_sample = 0, last_sample = 0;
  // Wall-clock time at which the samples' clock was 0, in nanoseconds since 1970.
  std::optional<int64_t> clock_started;
  // Returns the htlhash (src/machine/image_ids/htlhash.h) of an image's file; empty if unknown. It
  // is used for images without a build-id. If the function is null, no htlhash is known.
  std::function<std::string(const profile::Image& image)> htlhash_of;

  // Converts a time of the samples' clock to nanoseconds since 1970; returns 0 if clock_started is
  // unknown.
  int64_t WallClockOf(uint64_t time) const {
    return clock_started ? *clock_started + static_cast<int64_t>(time) : 0;
  }
};

}  // namespace profiler::exports
