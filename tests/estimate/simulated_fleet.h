// Fleets whose truth is known: what each host spends in each function, as samples show it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/diff/run.h"

namespace profiler::diff {

// How the hosts of a fleet differ, where nothing changed.
struct FleetKind {
  std::string name;
  size_t functions = 200;
  double least_samples = 20'000, most_samples = 100'000;  // of a host
  // The standard deviation, from host to host, of the logarithm of what a function takes.
  double unlike = 0.1;
  // The part of all functions that differ five times as far.
  double restless = 0;
  // The chance that a host has a function that takes four times as much.
  double odd = 0;
  // Half of the hosts have another task: a fifth of all functions takes twice as much there.
  bool has_two_tasks = false;
};
std::vector<FleetKind> KindsOfFleet();

// Function 3 takes so much more of the whole, on a part of the hosts.
struct FleetChange {
  double points = 0;
  double part = 1;
};

// One after the other, hosts of two groups. Function 3 has 5 % of the time.
class SimulatedFleet {
 public:
  SimulatedFleet(const FleetKind& kind, uint64_t seed) : kind_(kind), random_(seed) {}

  // Hosts of a group that `change` happened to, each of its own kind.
  std::vector<Run> Hosts(std::string_view group, size_t count, const FleetChange& change);
  // The same hosts twice: what they differ by stays, but for a tenth of it.
  std::pair<std::vector<Run>, std::vector<Run>> TwiceTheSame(size_t count,
                                                             const FleetChange& change);

 private:
  using Work = std::vector<double>;  // by function

  Work WorkOfHost(bool other_task);
  Run Sampled(std::string name, const Work& work);
  double Normal() { return std::normal_distribution<double>()(random_); }

  const FleetKind kind_;
  std::mt19937_64 random_;
};

struct FleetTrial {
  double quiet = 0;  // the part of all tries in which nothing else is shown
  double found = 0;  // … in which function 3 is
};
enum class Machines : uint8_t { kOthers, kTheSame };
FleetTrial TryFleet(const FleetKind& kind, size_t hosts, Machines machines,
                    const FleetChange& change, size_t tries, uint64_t seed);

}  // namespace profiler::diff
