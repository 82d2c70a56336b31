// Computes the average cost of each function of a command, from recordings of several runs.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "src/analysis/estimate/mean_share.h"
#include "src/views/diff/run.h"

namespace profiler::diff {

struct MeanRow {
  std::string name;
  estimate::MeanShare share;  // mean share of the event, from 0 to 1
  double amount = 0;          // mean over the runs, in the event's unit
};

struct Mean {
  std::vector<MeanRow> rows;  // sorted by own share, the largest first
  size_t rare = 0;            // number of functions with fewer than kFewestSamples
};

// Computes means over at least one run. Pure; thread-safe.
Mean MeanOf(std::span<const Run> runs);

// Formats a table of the heaviest functions: at most about twenty, of half a percent or more.
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
