// Runs a command, and measures the time and memory of the command and its children.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/live/command.h"

namespace profiler::tests {

struct Watched {
  Finished ended;
  bool hung = false;    // killed because it did not end in time
  double seconds = 0;   // wall-clock time
  double cpu = 0;       // CPU seconds, including children
  uint64_t memory = 0;  // peak memory of the command and its children together, in bytes
};

// Runs a command in `folder`, where its output is kept. Sends SIGINT each second after
// `seconds_to_interrupt`, and SIGKILL after `most_seconds`. Reads memory every 40 ms from
// /proc/PID/smaps_rollup (Pss counts shared memory once). While this runs, nothing else may wait
// for a child of this process.
Watched RunWatched(const std::vector<std::string>& argv, const std::string& folder,
                   double most_seconds, double seconds_to_interrupt);

}  // namespace profiler::tests
