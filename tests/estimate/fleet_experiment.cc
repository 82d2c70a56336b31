// Prints how often a comparison of two groups of hosts is right, as a table
// (tools/fleet_experiment).

#include <cstdio>
#include <cstdlib>

#include "tests/estimate/simulated_fleet.h"

namespace profiler::diff {
namespace {

constexpr uint64_t kSeed = 20240229;

void Print(size_t tries, const char* only) {
  std::printf("%-24s %5s %-7s | %9s | %s\n", "hosts", "each", "", "identical",
              "3 points more on a third: found, nothing else; on all: found, nothing else");
  for (const FleetKind& kind : KindsOfFleet()) {
    if (only != nullptr && kind.name != only) continue;
    for (const Machines machines : {Machines::kOthers, Machines::kTheSame}) {
      for (const size_t hosts : {1, 2, 3, 5, 6, 9, 12, 30, 100}) {
        const auto trial = [&](const FleetChange& change) {
          return TryFleet(kind, hosts, machines, change, tries, kSeed);
        };
        const FleetTrial none = trial({});
        const FleetTrial third = trial({.points = 3, .part = 1. / 3});
        const FleetTrial all = trial({.points = 3});
        std::printf("%-24s %5zu %-7s | %8.0f%% | %5.0f%% %5.0f%%   %5.0f%% %5.0f%%%s\n",
                    kind.name.c_str(), hosts, machines == Machines::kTheSame ? "paired" : "others",
                    100 * none.quiet, 100 * third.found, 100 * third.quiet, 100 * all.found,
                    100 * all.quiet, none.quiet < 0.98 ? "  too loud" : "");
        std::fflush(stdout);
      }
    }
  }
}

}  // namespace
}  // namespace profiler::diff

int main(int argc, char** argv) {
  profiler::diff::Print(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100,
                        argc > 2 ? argv[2] : nullptr);
}
