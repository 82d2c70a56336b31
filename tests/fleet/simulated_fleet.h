// A fleet of machines that does not exist, and the windows that they would have recorded. The same
// options are the same windows, on every machine.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/fleet/window.h"
#include "tests/fleet/simulated_service.h"

namespace profiler::fleet {

struct FleetOptions {
  uint64_t seed = 1;
  uint32_t hosts = 10;
  uint32_t cpus = 1;  // of each host, busy all the time
  double frequency = 49;
  UnixTime begin = 1'764'115'200'000'000'000;
  uint64_t window_seconds = 60;
  uint32_t services = 10;  // in the fleet; each host has two of them
  uint32_t stacks_of_service = 20'000;
  std::string first_host = "";  // in front of the numbers in hosts' names
  std::vector<std::pair<std::string, std::string>> labels;  // of all hosts, besides their regions

  // That function has so many percent of its service's time more, on so many of the hosts.
  std::string slow_function;
  double slow_points = 0;
  double slow_hosts = 1;
};

// How much of its service's time a function has of its own.
struct FunctionShare {
  std::string service, function;
  double share = 0;
};

// Reading is thread-safe.
class SimulatedFleet {
 public:
  explicit SimulatedFleet(const FleetOptions& options);

  const FleetOptions& options() const { return options_; }
  std::string HostName(uint32_t host) const;
  bool IsSlow(uint32_t host) const;
  // Whether any service has the function that is to be slow.
  bool HasSlowFunction() const;

  // What the host recorded in its `number`th window: some milliseconds.
  Window WindowOf(uint32_t host, uint64_t number) const;

  // The heaviest functions of each service, the heaviest first.
  std::vector<FunctionShare> HeaviestFunctions(size_t of_service) const;

 private:
  struct Slow {
    std::vector<uint32_t> stacks;
    double chance = 0;  // that a sample is in one of them, besides those that are anyway
  };

  FleetOptions options_;
  std::vector<SimulatedService> services_;
  std::vector<Slow> slow_;  // by service
};

}  // namespace profiler::fleet
