// A profile as a timeline of function calls in Chrome's trace event format, for Perfetto
// (ui.perfetto.dev), chrome://tracing and Speedscope.
//
//   samples of a thread   main work read   main work   main      (a gap)   main
//                         ▼
//   slices                main ────────────────────────┐          main ──┐
//                          work ──────────┐
//                           read ──┐
//
// A sample stands for the interval before it. The interval is the sample's period if the event is a
// time. Otherwise the interval reaches back to the previous sample, but at most over twice the
// median distance between samples. A call that is on the stack of successive samples without a gap
// is one slice. The field `samples` of a slice, which viewers ignore, is the number of samples in
// the slice. The sum over a thread's outermost slices is the number of the thread's samples.
//
// The slices show the time on and off the CPU; the innermost slice of off-CPU time is "[blocked]"
// or "[preempted]". If no event is a time, the slices show the first event. Samples of the other
// events become instants. If samples have no times, they are laid end to end, and the positions
// mean nothing.
//
// Viewers keep the whole file in memory. Beyond `most_slices` slices, the shortest calls are left
// out, but never an outermost one.

#pragma once

#include <cstdint>
#include <string>

#include "src/profile/profile.h"
#include "src/views/interchange/origin.h"

namespace profiler::exports {

struct ChromeTraceFile {
  std::string text;       // one trace event per line
  uint64_t left_out = 0;  // number of slices left out
  uint64_t shortest = 0;  // all slices of at least this length, in nanoseconds, are in the text
};

// Returns the file. Takes time linear in the samples' frames. Thread-safe.
ChromeTraceFile ChromeTrace(const profile::Profile& profile, const Origin& origin,
                            uint64_t most_slices = 1'000'000);

}  // namespace profiler::exports
