// Takes samples away from runs whose truth is known, as rings without room and throttled counters
// do, and counts how often shares of what is left are right.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/estimate/simulated_load.h"
#include "tests/estimate/trials.h"

namespace profiler::estimate {

// A way to lose samples.
struct LossKind {
  std::string name;
  // By sample of a run: whether it is lost.
  std::function<std::vector<bool>(const std::vector<uint32_t>& samples, Random& random)> lose;
};

// In one piece, in bursts over the whole run, and in a phase of it, more or less of them.
std::vector<LossKind> KindsOfLoss();

// How shares did in many runs.
struct LossFigures {
  double bias = 0;   // the mean of what the share is more than the true one
  double error = 0;  // the mean of how far it is off
  Coverage interval;
};

struct LossTrial {
  double lost = 0;  // the part of the samples, on average
  LossFigures raw;  // of the samples that are left, as if there had been no others
  LossFigures ours;
};

LossTrial TryLosses(const LoadKind& load, const LossKind& loss, double share, double samples,
                    size_t runs, Random& random);

}  // namespace profiler::estimate
