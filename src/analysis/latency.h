// Computes latency: how much each function adds to the time until the program ends, unlike CPU
// time, which adds up over all CPUs.
//
//   three threads run for a second each:     period 3 s    latency 1 s
//   one runs, and two wait for it:           period 1 s    latency 1 s
//   all wait for a disk for a second:        no period     latency 1 s
//
// While n threads run, each of them has an nth of its time as latency. If the recording has times
// off the CPU, waiting threads share the latency of times in which no thread runs.

#pragma once

#include <utility>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::analysis {

// Adds an event called "latency" for each event that has samples. Each row of the event gets a row
// of the new event with the same stack; its period is the latency. The profile must have
// Dimension::kParallelism. Returns pairs of a new event and the event for which it was added.
// Linear in the rows.
std::vector<std::pair<profile::EventId, profile::EventId>> AddLatency(profile::Profile& profile);

}  // namespace profiler::analysis
