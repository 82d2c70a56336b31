// Runs estimates many times on loads whose truth is known, and counts how often they are right.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/estimate/change.h"
#include "src/estimate/mean_share.h"
#include "src/estimate/share.h"
#include "tests/estimate/simulated_load.h"

namespace profiler::estimate {

// How a kind of interval did in many runs.
struct Coverage {
  double covered = 0;  // the part of the runs in which it had the truth
  double width = 0;    // mean
};

struct IntervalTrial {
  std::string load;
  double share = 0;
  double samples = 0;
  Coverage ours;
  Coverage wilson;
  double narrowest = 0;  // of fixed width that would have the truth in 95 of 100 runs
};

// What ShareInterval makes of runs of about `samples` samples in which function 0 has `share`.
IntervalTrial TryIntervals(const LoadKind& kind, double share, double samples, size_t runs,
                           Random& random);

// A program of a dozen functions.
struct PairLoad {
  std::string name;
  double mean = 1, varies = 1;  // of visits: ManyFunctions
};
std::vector<PairLoad> LoadsOfPairs();

struct PairTrial {
  double any = 0;    // the part of the pairs in which any change was significant
  double found = 0;  // … in which that of function `changed` was
};

// Pairs of groups of `runs` runs, of `samples` samples each. Function `changed` has `points` more
// of the time in the second group, of which the others have less.
PairTrial TryPairs(const PairLoad& load, size_t runs, double samples, uint32_t changed,
                   double points, size_t pairs, Random& random);

// How runs of one program differ beyond what they are sampled at.
struct RunDifferences {
  std::string name;
  double most = 0;   // the standard deviation of a function's time by its mean, for function 0 …
  double least = 0;  // … and for all others
};
std::vector<RunDifferences> KindsOfRunDifferences();

struct MeanTrial {
  Coverage ours;      // of all functions of all groups of runs
  Coverage restless;  // of function 0
  Coverage students;  // Student's interval of each function's runs alone
  Coverage of_one;    // ShareInterval of a group's first run
};

// What MeanSharesOf makes of groups of `runs` runs, of `samples` samples each, of a program of a
// dozen functions. The truth is what the program spends on average.
MeanTrial TryMeans(const PairLoad& load, const RunDifferences& differences, size_t runs,
                   double samples, size_t groups, Random& random);

}  // namespace profiler::estimate
