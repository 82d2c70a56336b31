// Simulates fleets of hosts: the true time of each function on each host, and samples of it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/views/diff/run.h"

namespace profiler::diff {

// A kind of fleet: how its hosts differ when nothing changes.
struct FleetKind {
  std::string name;
  size_t functions = 200;
  double least_samples = 20'000, most_samples = 100'000;  // samples per host
  // Standard deviation, between hosts, of the logarithm of a function's time.
  double unlike = 0.1;
  // Share of the functions whose standard deviation is five times `unlike`.
  double high_variance = 0;
  // Probability that a function takes four times its usual time on a host.
  double odd = 0;
  // True if half of the hosts have another task. There, a fifth of the functions take twice their
  // usual time.
  bool has_two_tasks = false;
};
std::vector<FleetKind> KindsOfFleet();

// A change of function 3: it takes `points` percentage points more on `part` (0 to 1) of the hosts.
struct FleetChange {
  double points = 0;
  double part = 1;
};

// A generator of hosts of two groups. Function 3 takes 5 % of the time.
class SimulatedFleet {
 public:
  SimulatedFleet(const FleetKind& kind, uint64_t seed) : kind_(kind), random_(seed) {}

  // Returns hosts of a group to which `change` happened. Each host has its own random work.
  std::vector<Run> Hosts(std::string_view group, size_t count, const FleetChange& change);
  // Returns `count` hosts twice: before and after `change`. From the first to the second time, each
  // function also varies by a tenth of FleetKind::unlike.
  std::pair<std::vector<Run>, std::vector<Run>> TwiceTheSame(size_t count,
                                                             const FleetChange& change);

 private:
  using Work = std::vector<double>;  // [function]: its time

  Work WorkOfHost(bool other_task);
  Run Sampled(std::string name, const Work& work);
  double Normal() { return std::normal_distribution<double>()(random_); }

  const FleetKind kind_;
  std::mt19937_64 random_;
};

struct FleetTrial {
  double quiet = 0;  // share of the tries in which no unchanged function is reported
  double found = 0;  // share of the tries in which the change of function 3 is reported
};
enum class Machines : uint8_t { kOthers, kTheSame };
FleetTrial TryFleet(const FleetKind& kind, size_t hosts, Machines machines,
                    const FleetChange& change, size_t tries, uint64_t seed);

}  // namespace profiler::diff
