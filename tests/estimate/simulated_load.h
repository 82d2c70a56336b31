// Programs that are known exactly, and what a sampler sees of them: the judge of all figures of
// chance. Time is in sampling distances.

#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace profiler::estimate {

using Random = std::mt19937_64;

// Something that a program does for a while.
struct Visit {
  double length = 0;
  uint32_t function = 0;
};

// Gives one visit after the other.
using Load = std::function<Visit(Random& random)>;

// A kind of load of functions 0 (what is asked about) and 1 (the rest).
struct LoadKind {
  std::string name;
  // A run of `length` in which function 0 has about `share` of the time.
  std::function<Load(double share, double length, Random& random)> make;
};

// Even, bursty, drifting, in phases, and periodic in step with the sampler, at several scales from
// far below the sampling distance to far above it.
std::vector<LoadKind> KindsOfLoad();

// Visits to many functions, chosen by their weights, of lengths around `mean`; `varies` is the
// standard deviation by the mean.
Load ManyFunctions(std::vector<double> weights, double mean, double varies);

struct SampledRun {
  std::vector<uint32_t> samples;  // the function met by each
  std::vector<double> shares;     // the true ones, by function
};

// A sampler whose timer begins anywhere and is late by some 1/200 of its distance, as timers are.
SampledRun Sample(const Load& load, size_t functions, double length, Random& random);

}  // namespace profiler::estimate
