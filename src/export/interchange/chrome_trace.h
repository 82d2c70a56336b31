// A profile as a timeline of function calls, in Chrome's trace event format, for Perfetto
// (ui.perfetto.dev), chrome://tracing and Speedscope.
//
//   samples of a thread   main work read   main work   main      (a gap)   main
//                         ▼
//   slices                main ────────────────────────┐          main ──┐
//                          work ──────────┐
//                           read ──┐
//
// A sample stands for the time before it: its period where the event is a time, else the time
// since the sample before, of which no more than twice the median counts. A call that is on the
// stack in samples without a gap between them is one slice; each says in `samples`, which viewers
// pass over, how many it had, so those of the outermost slices add up to the thread's samples.
//
// Shown as slices are times on and off the CPU (which get a slice "[blocked]" or "[preempted]" at
// their end), or where there are none, the first event. Samples of the other events are instants.
// Without times samples are laid end to end, and the timeline has no meaning.
//
// Viewers hold such a file in memory as a whole. Where it would have more than `most_slices`, short
// calls are left out, the shortest first, but never an outermost one.

#pragma once

#include <cstdint>
#include <string>

#include "src/export/interchange/origin.h"
#include "src/profile/profile.h"

namespace profiler::exports {

struct ChromeTraceFile {
  std::string text;       // one event a line
  uint64_t left_out = 0;  // slices
  uint64_t shortest = 0;  // slices that are as long as that, in nanoseconds, are all there
};

// Linear in the samples' frames. Thread-safe.
ChromeTraceFile ChromeTrace(const profile::Profile& profile, const Origin& origin,
                            uint64_t most_slices = 1'000'000);

}  // namespace profiler::exports
