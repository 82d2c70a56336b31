// Runs a command, and measures the time and memory of the command and its children.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/live/command.h"

namespace profiler::tests {

struct Watched {
  Finished ended;
  bool hung = false;    // True if it was killed at its time limit
  double seconds = 0;   // wall-clock time
  double cpu = 0;       // CPU seconds of the command and its children
  uint64_t memory = 0;  // peak memory of the command and its children together, in bytes
};

// Runs a command in `folder`, where its output is kept. After `seconds_to_interrupt`, sends SIGINT
// every second; after `most_seconds`, sends SIGKILL. Reads the memory every 40 ms from
// /proc/PID/smaps_rollup (Pss counts shared memory once). During this call, no other thread may
// wait for a child of this process.
Watched RunWatched(const std::vector<std::string>& argv, const std::string& folder,
                   double most_seconds, double seconds_to_interrupt);

}  // namespace profiler::tests
