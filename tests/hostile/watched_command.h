// Runs a command and watches what it and its children cost.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/live/command.h"

namespace profiler::tests {

struct Watched {
  Finished ended;
  bool hung = false;    // it was killed, for it had not ended in time
  double seconds = 0;   // that passed
  double cpu = 0;       // seconds of CPU, children's included
  uint64_t memory = 0;  // the most that it and its children had at once, in bytes
};

// Runs it in `folder`, where its output is kept, presses Ctrl-C each second after
// `seconds_to_interrupt`, and kills it after `most_seconds`. Memory is what
// /proc/PID/smaps_rollup says (Pss: what several processes share counts once), every few
// milliseconds. No other child of this process may be waited for meanwhile.
Watched RunWatched(const std::vector<std::string>& argv, const std::string& folder,
                   double most_seconds, double seconds_to_interrupt);

}  // namespace profiler::tests
