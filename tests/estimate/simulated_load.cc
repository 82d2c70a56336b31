#include "tests/estimate/simulated_load.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"

namespace profiler::estimate {
namespace {

double Uniform(Random& random) { return std::uniform_real_distribution<>(0, 1)(random); }
double Exponential(double mean, Random& random) {
  return std::exponential_distribution<>(1 / mean)(random);
}
double Gamma(double mean, double varies, Random& random) {
  const double shape = 1 / (varies * varies);
  return std::gamma_distribution<>(shape, mean / shape)(random);
}

// Alternates visits and pauses of similar lengths. `cycle` is the mean length of a visit and a
// pause together.
LoadKind Even(double cycle) {
  return {absl::StrCat("even, rounds of ", cycle), [cycle](double share, double, Random& random) {
            return [cycle, share, in = Uniform(random) < share](Random& r) mutable {
              in = !in;
              return Visit{Gamma(cycle * (in ? share : 1 - share), 0.3, r), in ? 0u : 1u};
            };
          }};
}

LoadKind AtRandom(double cycle) {
  return {absl::StrCat("at random, rounds of ", cycle),
          [cycle](double share, double, Random& random) {
            return [cycle, share, in = Uniform(random) < share](Random& r) mutable {
              in = !in;
              return Visit{Exponential(cycle * (in ? share : 1 - share), r), in ? 0u : 1u};
            };
          }};
}

// Makes bursts of very unequal lengths at random times. In a burst, function 0 takes most of the
// time, in short visits.
LoadKind Bursty(double burst) {
  return {absl::StrCat("bursty, bursts of ", burst), [burst](double share, double, Random&) {
            return [burst, share, left = 0.0, in = false](Random& r) mutable {
              constexpr double kInBurst = 0.7, kRound = 0.3;
              if (left <= 0) {
                left = burst * std::exp(std::normal_distribution<>(0, 1)(r) - 0.5);
                in = false;
                const double pause = burst * kInBurst / share - burst;
                return Visit{Exponential(std::max(pause, 1e-3), r), 1};
              }
              in = !in;
              const double wanted = Exponential(kRound * (in ? kInBurst : 1 - kInBurst), r);
              const double length = std::min(left, wanted);
              left -= length;
              return Visit{length, in ? 0u : 1u};
            };
          }};
}

// Makes a load in which the share of function 0 grows ninefold during the run.
LoadKind Drifting(double cycle) {
  return {absl::StrCat("drifting, rounds of ", cycle),
          [cycle](double share, double length, Random&) {
            return [cycle, share, length, at = 0.0, in = false](Random& r) mutable {
              in = !in;
              const double now = std::min(share * (0.2 + 1.6 * at / length), 0.98);
              const Visit visit{Exponential(cycle * (in ? now : 1 - now), r), in ? 0u : 1u};
              at += visit.length;
              return visit;
            };
          }};
}

LoadKind InPhases() {
  return {"in phases", [](double share, double length, Random&) {
            return [share, length, at = 0.0, in = false](Random& r) mutable {
              in = !in;
              const double part = at / length;
              const double factor = part < 1. / 3 ? 0.1 : part < 0.5 ? 2.2 : 0.9;
              const double now = std::min(share * factor, 0.98);
              const Visit visit{Exponential(in ? now : 1 - now, r), in ? 0u : 1u};
              at += visit.length;
              return visit;
            };
          }};
}

// Simulates work that a timer starts at `times` kHz, sampled at 999 Hz. The timer's clock is off by
// up to 50 ppm.
LoadKind InStep(double times) {
  return {absl::StrCat("in step, ", times, " kHz"), [times](double share, double, Random& random) {
            const double period = 0.999 / times * (1 + 1e-4 * (Uniform(random) - 0.5));
            // The run begins at a random point of the timer's period.
            const double begins = Uniform(random) * period;
            const bool begins_in = begins < share * period;
            const double rest = begins_in ? share * period - begins : period - begins;
            return [period, share, rest, in = begins_in, first = true](Random&) mutable {
              if (std::exchange(first, false)) return Visit{rest, in ? 0u : 1u};
              in = !in;
              return Visit{period * (in ? share : 1 - share), in ? 0u : 1u};
            };
          }};
}

}  // namespace

std::vector<LoadKind> KindsOfLoad() {
  std::vector<LoadKind> kinds;
  for (const double cycle : {0.05, 0.5, 3., 10., 100.}) kinds.push_back(Even(cycle));
  for (const double cycle : {0.05, 0.5, 3., 10., 100.}) kinds.push_back(AtRandom(cycle));
  for (const double burst : {0.5, 5., 50.}) kinds.push_back(Bursty(burst));
  for (const double cycle : {0.2, 5.}) kinds.push_back(Drifting(cycle));
  kinds.push_back(InPhases());
  for (const double times : {1., 2., 4.}) kinds.push_back(InStep(times));
  return kinds;
}

Load ManyFunctions(std::vector<double> weights, double mean, double varies) {
  return [choose = std::discrete_distribution<uint32_t>(weights.begin(), weights.end()), mean,
          varies](Random& random) mutable {
    return Visit{Gamma(mean, varies, random), choose(random)};
  };
}

SampledRun Sample(const Load& load, size_t functions, double length, Random& random) {
  constexpr double kLate = 0.005;
  SampledRun run;
  run.shares.resize(functions);
  const double begins = Uniform(random);
  const auto late = [&] { return Exponential(kLate, random); };
  double at = 0, next = begins + late();
  while (at < length) {
    const Visit visit = load(random);
    const double end = std::min(length, at + visit.length);
    run.shares[visit.function] += (end - at) / length;
    while (next < end) {
      run.samples.push_back(visit.function);
      next = std::max(next, begins + static_cast<double>(run.samples.size()) + late());
    }
    at = end;
  }
  return run;
}

}  // namespace profiler::estimate
