// Prints the whole experiment that chose the estimates, as tables (tools/estimate_experiment).

#include <cstdio>
#include <cstdlib>

#include "tests/estimate/losses.h"
#include "tests/estimate/trials.h"

namespace profiler::estimate {
namespace {

constexpr uint64_t kSeed = 20240229;

void PrintIntervals(size_t runs) {
  Random random(kSeed);
  std::printf("%-28s %6s %7s | %8s %7s %9s %6s | %8s %6s\n", "load", "share", "samples", "covered",
              "width", "narrowest", "ratio", "Wilson", "ratio");
  for (const LoadKind& kind : KindsOfLoad()) {
    for (const double share : {0.002, 0.02, 0.2, 0.5}) {
      for (const double samples : {1000., 10000.}) {
        // Skips shares of fewer than ten samples, and runs of fewer than two and a half beats.
        if (share * samples < 10) continue;
        if (kind.name.starts_with("in step") && samples < 5000) continue;
        const IntervalTrial trial = TryIntervals(kind, share, samples, runs, random);
        std::printf("%-28s %5.1f%% %7.0f | %7.1f%% %6.2f%% %8.2f%% %6.2f | %7.1f%% %6.2f%s\n",
                    kind.name.c_str(), share * 100, samples, trial.ours.covered * 100,
                    trial.ours.width * 100, trial.narrowest * 100,
                    trial.ours.width / trial.narrowest, trial.wilson.covered * 100,
                    trial.wilson.width / trial.narrowest,
                    trial.ours.covered < 0.93                ? "  too narrow"
                    : trial.ours.width > 2 * trial.narrowest ? "  too wide"
                                                             : "");
        std::fflush(stdout);
      }
    }
  }
}

void PrintPairs(size_t pairs) {
  Random random(kSeed);
  std::printf("\n%-40s %5s | %9s | %s\n", "a dozen functions, 10 000 samples", "runs", "identical",
              "3 points more on a function of 5 %, 10 %, 20 %, 30 %");
  for (const PairLoad& load : LoadsOfPairs()) {
    for (const size_t runs : {1, 3, 5}) {
      std::printf("%-40s %5zu | %8.1f%% |", load.name.c_str(), runs,
                  100 * TryPairs(load, runs, 10000, 0, 0, pairs, random).any);
      for (const uint32_t changed : {4, 2, 1, 0}) {
        const PairTrial trial = TryPairs(load, runs, 10000, changed, 3, pairs, random);
        std::printf(" %6.1f%%", 100 * trial.found);
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  }
}

void PrintLosses(size_t runs) {
  Random random(kSeed);
  std::printf("\n%-28s %-32s %5s | %-29s | %s\n", "load, 10 000 samples, share 20 %", "lost", "",
              "of what is left", "with weights for what is missing");
  std::printf("%-28s %-32s %5s | %7s %6s %7s %6s | %7s %6s %7s %6s\n", "", "", "", "bias", "off",
              "covered", "width", "bias", "off", "covered", "width");
  const auto print = [](const LossFigures& of) {
    std::printf(" | %+6.2f%% %5.2f%% %6.1f%% %5.2f%%", of.bias * 100, of.error * 100,
                of.interval.covered * 100, of.interval.width * 100);
  };
  for (const LoadKind& kind : KindsOfLoad()) {
    // The uncertainty from beats is tested with runs without losses.
    if (kind.name.starts_with("in step")) continue;
    for (const LossKind& loss : KindsOfLoss()) {
      const LossTrial trial = TryLosses(kind, loss, 0.2, 10000, runs, random);
      std::printf("%-28s %-32s %4.0f%%", kind.name.c_str(), loss.name.c_str(), trial.lost * 100);
      print(trial.raw);
      print(trial.ours);
      std::printf("%s\n", trial.ours.interval.covered < 0.93 ? "  too narrow" : "");
      std::fflush(stdout);
    }
  }
}

void PrintMeans(size_t groups) {
  Random random(kSeed);
  std::printf("\n%-40s %-36s %7s %4s | %8s %6s | %10s | %9s %6s | %s\n", "a dozen functions",
              "from run to run", "samples", "runs", "covered", "width", "function 0", "Student's",
              "width", "one run's interval");
  for (const PairLoad& load : LoadsOfPairs()) {
    for (const RunDifferences& differences : KindsOfRunDifferences()) {
      for (const double samples : {1000., 10000.}) {
        for (const size_t runs : {2, 3, 5, 10}) {
          const MeanTrial trial = TryMeans(load, differences, runs, samples, groups, random);
          std::printf(
              "%-40s %-36s %7.0f %4zu | %7.1f%% %5.2f%% | %9.1f%% | %8.1f%% %5.2f%% | %.1f%%\n",
              load.name.c_str(), differences.name.c_str(), samples, runs, 100 * trial.ours.covered,
              100 * trial.ours.width, 100 * trial.high_variance.covered,
              100 * trial.students.covered, 100 * trial.students.width, 100 * trial.of_one.covered);
          std::fflush(stdout);
        }
      }
    }
  }
}

}  // namespace
}  // namespace profiler::estimate

int main(int argc, char** argv) {
  const size_t runs = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 500;
  if (runs > 0) {
    profiler::estimate::PrintIntervals(runs);
    profiler::estimate::PrintLosses(runs);
  }
  const size_t pairs = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 200;
  if (pairs > 0) profiler::estimate::PrintPairs(pairs);
  const size_t groups = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 100;
  if (groups > 0) profiler::estimate::PrintMeans(groups);
}
