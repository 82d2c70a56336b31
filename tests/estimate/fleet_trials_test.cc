// A short form of the experiment that chose how hosts are compared: a hundred fleets of each
// important kind, equal in every run.

#include "gtest/gtest.h"
#include "tests/estimate/simulated_fleet.h"

namespace profiler::diff {
namespace {

constexpr size_t kTries = 100;
constexpr double kQuiet = 0.98;
constexpr uint64_t kSeed = 7;

FleetKind Kind(std::string_view name) {
  for (FleetKind& kind : KindsOfFleet()) {
    if (kind.name == name) return kind;
  }
  ADD_FAILURE() << name;
  return {};
}

TEST(Fleet, IdenticalReleasesShowNothing) {
  for (const char* kind : {"usual", "few samples"}) {
    for (const size_t hosts : {2u, 3u, 5u, 9u}) {
      EXPECT_GE(TryFleet(Kind(kind), hosts, Machines::kOthers, {}, kTries, kSeed).quiet, kQuiet)
          << kind << ", " << hosts;
    }
  }
}

TEST(Fleet, TheSameMachinesTwiceShowNothing) {
  for (const size_t hosts : {2u, 7u}) {
    EXPECT_GE(TryFleet(Kind("usual"), hosts, Machines::kTheSame, {}, kTries, kSeed).quiet, kQuiet)
        << hosts;
  }
}

TEST(Fleet, AThirdOfTheHostsThatAreSlowerIsFoundAndNothingElse) {
  const FleetTrial trial =
      TryFleet(Kind("usual"), 30, Machines::kOthers, {.points = 3, .part = 1. / 3}, kTries, kSeed);
  EXPECT_GE(trial.found, 0.95);
  EXPECT_GE(trial.quiet, kQuiet);
}

TEST(Fleet, AllHostsThatAreSlowerAreFoundAndNothingElse) {
  const FleetTrial five =
      TryFleet(Kind("usual"), 5, Machines::kOthers, {.points = 3}, kTries, kSeed);
  EXPECT_GE(five.found, 0.95);
  EXPECT_GE(five.quiet, kQuiet);
  // If a program has few functions, a change of one function also shifts the shares of all others.
  const FleetTrial dozen =
      TryFleet(Kind("a dozen functions"), 30, Machines::kTheSame, {.points = 3}, kTries, kSeed);
  EXPECT_GE(dozen.found, 0.99);
  EXPECT_GE(dozen.quiet, 0.95);
}

}  // namespace
}  // namespace profiler::diff
