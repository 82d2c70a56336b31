#include "tests/fleet/simulated_fleet.h"

#include <string>

#include "gtest/gtest.h"
#include "src/fleet/segments/segment.h"

namespace profiler::fleet {
namespace {

FleetOptions Small() {
  FleetOptions options;
  options.stacks_of_service = 500;
  return options;
}

double ShareOfFunction(const Window& window, const std::string& service, const std::string& name) {
  double of_function = 0, of_service = 0;
  for (const Row& row : window.rows) {
    if (window.strings[window.workloads[row.workload].service] != service) continue;
    of_service += static_cast<double>(row.samples);
    const Frame& frame = window.frames[window.stacks[row.stack].frame];
    if (window.strings[frame.function] == name) of_function += static_cast<double>(row.samples);
  }
  return of_service == 0 ? 0 : of_function / of_service;
}

TEST(SimulatedFleetTest, SameOptionsAreTheSameBytes) {
  const SimulatedFleet one(Small()), other(Small());
  EXPECT_EQ(EncodeSegment(one.WindowOf(3, 5)), EncodeSegment(other.WindowOf(3, 5)));
  EXPECT_NE(EncodeSegment(one.WindowOf(3, 5)), EncodeSegment(one.WindowOf(3, 6)));
}

TEST(SimulatedFleetTest, AWindowHasAllSamplesOfBusyCpus) {
  FleetOptions options = Small();
  options.cpus = 4;
  const Window window = SimulatedFleet(options).WindowOf(0, 0);
  uint64_t samples = 0;
  for (const Row& row : window.rows) samples += row.samples;
  EXPECT_EQ(samples, 4U * 49 * 60);
}

TEST(SimulatedFleetTest, ASlowFunctionHasItsPointsMore) {
  FleetOptions options = Small();
  options.cpus = 64;
  const FunctionShare function = SimulatedFleet(options).HeaviestFunctions(3)[2];
  ASSERT_EQ(function.service, "web");
  options.slow_function = function.function;
  options.slow_points = 10;
  const Window window = SimulatedFleet(options).WindowOf(0, 0);
  EXPECT_NEAR(ShareOfFunction(window, "web", function.function), function.share + 0.1, 0.01);
}

}  // namespace
}  // namespace profiler::fleet
