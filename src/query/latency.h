// Which code would make a program end sooner: the time that passes while it runs, and not that of
// all CPUs.
//
//   three threads run for a second each:     period 3 s    latency 1 s
//   one runs, and two wait for it:           period 1 s    latency 1 s
//   all wait for a disk for a second:        no period     latency 1 s
//
// What a thread does while n threads run has an nth of its time as latency. What threads wait for
// has latency while none runs, shared among them, where the recording has times off the CPU.

#pragma once

#include <utility>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::query {

// Adds an event called "latency" for each that has samples, with rows of the same stacks whose
// periods are their latency. Dimension::kParallelism must be kept. Returns each new event with that
// which it is the latency of. Linear in the rows.
std::vector<std::pair<profile::EventId, profile::EventId>> AddLatency(profile::Profile& profile);

}  // namespace profiler::query
