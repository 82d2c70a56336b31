// Simulates programs whose true shares are known, and the samples that a sampler takes of them.
// Tests use them to judge every confidence interval. The unit of time is the sampling interval.

#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace profiler::estimate {

using Random = std::mt19937_64;

// A stretch of time that a program spends in one function.
struct Visit {
  double length = 0;
  uint32_t function = 0;
};

// A function that returns the next visit at each call.
using Load = std::function<Visit(Random& random)>;

// A kind of load with two functions: function 0 is measured, function 1 takes all other time.
struct LoadKind {
  std::string name;
  // Makes a run of `length` in which function 0 takes about `share` of the time.
  std::function<Load(double share, double length, Random& random)> make;
};

// Returns even, bursty, drifting and phased loads, and loads in step with the sampler. The loads'
// cycles last from 1/20 to 100 sampling intervals.
std::vector<LoadKind> KindsOfLoad();

// Returns a load of visits to random functions, chosen by `weights`. Visits last `mean` on average;
// `varies` is their standard deviation divided by the mean.
Load ManyFunctions(std::vector<double> weights, double mean, double varies);

struct SampledRun {
  std::vector<uint32_t> samples;  // the function of each sample
  std::vector<double> shares;     // [function]: its true share
};

// Samples a load. As with real timers, the first sample is at a random time. Each sample is late by
// about 1/200 of the sampling interval.
SampledRun Sample(const Load& load, size_t functions, double length, Random& random);

}  // namespace profiler::estimate
