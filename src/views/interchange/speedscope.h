// A profile in the format of speedscope.app (its file-format-schema.json).
//
//   shared.frames   the functions
//   profiles        one per event and thread: samples in order of time, each a list of functions
//                   from root to leaf, and a weight per sample: nanoseconds for events that are
//                   times, otherwise periods
//
// Successive samples with equal stacks are merged. If the lists would have more than `most_frames`
// entries, all samples of a thread with equal stacks are merged, and the order is lost.

#pragma once

#include <cstddef>
#include <string>

#include "src/profile/profile.h"
#include "src/views/interchange/origin.h"

namespace profiler::exports {

struct SpeedscopeFile {
  std::string text;
  bool in_time_order = false;
};

// Returns the file. Takes time linear in the output. Thread-safe.
SpeedscopeFile Speedscope(const profile::Profile& profile, const Origin& origin,
                          size_t most_frames = 20'000'000);

}  // namespace profiler::exports
