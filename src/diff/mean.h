// What a command spends in its functions on average, from recordings of several runs of it.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "src/diff/run.h"
#include "src/estimate/mean_share.h"

namespace profiler::diff {

struct MeanRow {
  std::string name;
  estimate::MeanShare share;  // of the event, from 0 to 1
  double amount = 0;          // mean over the runs, in the event's unit
};

struct Mean {
  std::vector<MeanRow> rows;  // by what functions have themselves; the heaviest first
  size_t rare = 0;            // functions with too few samples in all runs to tell anything
};

// At least one run. Pure; thread-safe.
Mean MeanOf(std::span<const Run> runs);

// As a table of some twenty functions, the heaviest, that have half a percent or more:
//
//   # 3 runs: perf.data.1, perf.data.2, perf.data.3
//   # 3.190 s of cpu-clock a run, from 3.171 s to 3.204 s
//   # …
//   #  Share     ±     Time  Function
//   # ......  ....  .......  ........
//     70.84%  1.71  2.257 s  C
//      1.16%        0.037 s  12 other functions
//
// Pure; thread-safe.
std::string FormatMean(const Mean& mean, std::span<const Run> runs);

}  // namespace profiler::diff
