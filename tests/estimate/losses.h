// Removes samples from runs whose true shares are known, as full rings and throttled counters do.
// Counts how often the shares computed from the remaining samples are right.

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
  // Returns one bool per sample of a run: true if the sample is lost.
  std::function<std::vector<bool>(const std::vector<uint32_t>& samples, Random& random)> lose;
};

// Returns three kinds of loss: one long gap, bursts over the whole run, and bursts in one phase of
// the run.
std::vector<LossKind> KindsOfLoss();

// Accuracy of estimated shares over many runs.
struct LossFigures {
  double bias = 0;   // mean of (estimated share - true share)
  double error = 0;  // mean of |estimated share - true share|
  Coverage interval;
};

struct LossTrial {
  double lost = 0;  // mean share of the samples that are lost
  LossFigures raw;  // accuracy of shares that ignore the loss
  // Accuracy of shares for which the remaining samples get larger weights, to make up for the loss.
  LossFigures ours;
};

LossTrial TryLosses(const LoadKind& load, const LossKind& loss, double share, double samples,
                    size_t runs, Random& random);

}  // namespace profiler::estimate
