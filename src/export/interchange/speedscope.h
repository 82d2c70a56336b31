// A profile as speedscope.app reads it (its file-format-schema.json).
//
//   shared.frames   the functions
//   profiles        one an event and thread: samples in the order of time, each a list of functions
//                   from the root to the leaf, and as many weights: nanoseconds of events that are
//                   times, else periods
//
// Samples that follow each other with one stack are one. Where lists in the order of time would
// have more than `most_frames` entries, a thread's samples are merged by stack, and their order is
// lost.

#pragma once

#include <cstddef>
#include <string>

#include "src/export/interchange/origin.h"
#include "src/profile/profile.h"

namespace profiler::exports {

struct SpeedscopeFile {
  std::string text;
  bool in_time_order = false;
};

// Linear in what is written. Thread-safe.
SpeedscopeFile Speedscope(const profile::Profile& profile, const Origin& origin,
                          size_t most_frames = 20'000'000);

}  // namespace profiler::exports
