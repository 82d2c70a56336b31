// Repeats estimates on loads whose true shares are known, and counts how often they are right.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/analysis/estimate/change.h"
#include "src/analysis/estimate/mean_share.h"
#include "src/analysis/estimate/share.h"
#include "tests/estimate/simulated_load.h"

namespace profiler::estimate {

// Results of one kind of confidence interval over many runs.
struct Coverage {
  double covered = 0;  // share of the runs whose interval contains the truth
  double width = 0;    // mean width of the intervals
};

struct IntervalTrial {
  std::string load;
  double share = 0;
  double samples = 0;
  Coverage ours;
  Coverage wilson;
  // Width of the narrowest fixed interval that contains the truth in 95 of 100 runs.
  double narrowest = 0;
};

// Runs ShareInterval on `runs` runs of about `samples` samples; function 0 has `share` of the time.
IntervalTrial TryIntervals(const LoadKind& kind, double share, double samples, size_t runs,
                           Random& random);

// A program of a dozen functions.
struct PairLoad {
  std::string name;
  double mean = 1, varies = 1;  // length of visits; see ManyFunctions
};
std::vector<PairLoad> LoadsOfPairs();

struct PairTrial {
  double any = 0;    // share of the pairs in which any function changed significantly
  double found = 0;  // share of the pairs in which function `changed` changed significantly
};

// Compares `pairs` pairs of groups. Each group has `runs` runs of `samples` samples. In the second
// group of a pair, function `changed` takes `points` percentage points more, and the other
// functions take less.
PairTrial TryPairs(const PairLoad& load, size_t runs, double samples, uint32_t changed,
                   double points, size_t pairs, Random& random);

// True differences between runs of one program. Sampling causes further differences.
struct RunDifferences {
  std::string name;
  // Standard deviation of a function's time, divided by its mean. `most` applies to function 0,
  // `least` to all others.
  double most = 0;
  double least = 0;
};
std::vector<RunDifferences> KindsOfRunDifferences();

struct MeanTrial {
  Coverage ours;           // MeanSharesOf, for all functions of all groups
  Coverage high_variance;  // MeanSharesOf, for function 0
  Coverage students;       // Student's interval of each function's shares in the runs
  Coverage of_one;         // ShareInterval, from only the first run of each group
};

// Runs MeanSharesOf on `groups` groups. Each group has `runs` runs of a program with a dozen
// functions, and each run has `samples` samples. The truth is the mean share over many runs.
MeanTrial TryMeans(const PairLoad& load, const RunDifferences& differences, size_t runs,
                   double samples, size_t groups, Random& random);

}  // namespace profiler::estimate
