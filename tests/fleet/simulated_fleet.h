// Simulates a fleet of machines and the windows that they would record. Equal options give equal
// windows on every machine.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/fleet/segments/window.h"
#include "tests/fleet/simulated_service.h"

namespace profiler::fleet {

struct FleetOptions {
  uint64_t seed = 1;
  uint32_t hosts = 10;
  uint32_t cpus = 1;  // CPUs per host; all are always busy
  double frequency = 49;
  UnixTime begin = 1'764'115'200'000'000'000;
  uint64_t window_seconds = 60;
  uint32_t services = 10;  // services in the whole fleet; each host runs two
  uint32_t stacks_of_service = 20'000;
  std::string first_host = "";  // prefix of the numbers in host names
  // Labels that every host has in addition to its region.
  std::vector<std::pair<std::string, std::string>> labels;

  // This function takes `slow_points` percentage points more of its service's time, on `slow_hosts`
  // (0 to 1) of the hosts.
  std::string slow_function;
  double slow_points = 0;
  double slow_hosts = 1;
};

// A function's share of its service's time, without its callees.
struct FunctionShare {
  std::string service, function;
  double share = 0;
};

// A simulated fleet. Its const functions are thread-safe.
class SimulatedFleet {
 public:
  explicit SimulatedFleet(const FleetOptions& options);

  const FleetOptions& options() const { return options_; }
  std::string HostName(uint32_t host) const;
  bool IsSlow(uint32_t host) const;
  // True if any service has the function `slow_function`.
  bool HasSlowFunction() const;

  // Returns the host's window `number`. Takes some milliseconds.
  Window WindowOf(uint32_t host, uint64_t number) const;

  // Returns the `of_service` heaviest functions of each service, heaviest first.
  std::vector<FunctionShare> HeaviestFunctions(size_t of_service) const;

 private:
  struct Slow {
    std::vector<uint32_t> stacks;
    double chance = 0;  // probability that a sample is drawn from `stacks` only
  };

  FleetOptions options_;
  std::vector<SimulatedService> services_;
  std::vector<Slow> slow_;  // [index in services_]
};

}  // namespace profiler::fleet
