#include "tests/estimate/trials.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "src/analysis/estimate/beat.h"
#include "src/analysis/estimate/slices.h"
#include "src/analysis/estimate/students_t.h"
#include "src/analysis/estimate/visits.h"

namespace profiler::estimate {
namespace {

// Returns one number per time slice: the function's samples in the slice, minus the samples that
// its average share predicts.
std::vector<float> Excess(const std::vector<uint32_t>& samples, uint32_t function) {
  std::vector<float> counts(SlicesOf(samples.size()));
  if (counts.empty()) return counts;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] == function) counts[SliceOf(i, samples.size(), counts.size())] += 1;
  }
  return ExcessOf(counts, samples.size());
}

std::vector<ShareSamples> Measured(const std::vector<uint32_t>& samples, size_t functions) {
  Visits visits(functions);
  for (const uint32_t function : samples) visits.Add({&function, 1});
  visits.EndStream();
  std::vector<ShareSamples> measured;
  for (uint32_t i = 0; i < functions; ++i) measured.push_back(visits[i]);
  return measured;
}

double ShareOf(const ShareSamples& samples) {
  return static_cast<double>(samples.count) / static_cast<double>(samples.samples);
}

struct MeasuredRun {
  std::vector<ShareSamples> shares;
  std::vector<std::vector<float>> excess;
};

MeasuredRun RunOf(const Load& load, size_t functions, double samples, Random& random) {
  const SampledRun run = Sample(load, functions, samples, random);
  MeasuredRun measured{.shares = Measured(run.samples, functions), .excess = {}};
  for (uint32_t i = 0; i < functions; ++i) {
    measured.excess.push_back(Excess(run.samples, i));
    measured.shares[i].beat_variance = BeatVariance(measured.shares[i], measured.excess[i]);
  }
  return measured;
}

// Returns the shares of a typical program: a few large functions and many small ones.
std::vector<double> WeightsOfProgram() {
  return {0.3, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.03, 0.03, 0.02, 0.02};
}

std::vector<Groups> GroupsOf(const std::vector<MeasuredRun>& before,
                             const std::vector<MeasuredRun>& after) {
  std::vector<Groups> groups(before[0].shares.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto add = [i](const std::vector<MeasuredRun>& runs, std::vector<RunShare>& to) {
      for (const MeasuredRun& run : runs) {
        to.push_back(
            {.samples = run.shares[i], .share = ShareOf(run.shares[i]), .excess = run.excess[i]});
      }
    };
    add(before, groups[i].before);
    add(after, groups[i].after);
  }
  return groups;
}

// Returns the functions' times in one run: `weights`, varied at random as `differences` says.
std::vector<double> Varied(std::vector<double> weights, const RunDifferences& differences,
                           Random& random) {
  for (size_t i = 0; i < weights.size(); ++i) {
    const double deviation = i == 0 ? differences.most : differences.least;
    // Keeps at least a tenth of the time.
    weights[i] *= std::max(0.1, 1 + deviation * std::normal_distribution<>()(random));
  }
  return weights;
}

// Returns each function's mean share over many runs.
std::vector<double> TrueMeans(const std::vector<double>& weights, const RunDifferences& differences,
                              Random& random) {
  constexpr size_t kMany = 20'000;
  std::vector<double> means(weights.size());
  for (size_t run = 0; run < kMany; ++run) {
    const std::vector<double> varied = Varied(weights, differences, random);
    const double all = std::accumulate(varied.begin(), varied.end(), 0.0);
    for (size_t i = 0; i < means.size(); ++i) means[i] += varied[i] / all / kMany;
  }
  return means;
}

// Adds the interval `middle` ± `half` to `coverage`.
void Judge(double middle, double half, double truth, Coverage& coverage) {
  if (std::abs(middle - truth) <= half) coverage.covered += 1;
  coverage.width += 2 * half;
}

void DivideBy(double count, Coverage& coverage) {
  coverage.covered /= count;
  coverage.width /= count;
}

double StudentsHalfWidth(const SharesOfRuns& runs) {
  const auto count = static_cast<double>(runs.size());
  const double variance = SquaresAround(MeanOf(runs), runs) / (count - 1);
  return HalfWidth95(std::sqrt(variance / count), count - 1);
}

}  // namespace

IntervalTrial TryIntervals(const LoadKind& kind, double share, double samples, size_t runs,
                           Random& random) {
  IntervalTrial trial{.load = kind.name, .share = share, .samples = samples};
  std::vector<double> errors;
  for (size_t i = 0; i < runs; ++i) {
    // The run ends at a random point of the load's cycle.
    const double length = samples * (0.8 + 0.4 * std::uniform_real_distribution<>(0, 1)(random));
    const SampledRun run = Sample(kind.make(share, length, random), 2, length, random);
    ShareSamples measured = Measured(run.samples, 2)[0];
    const double truth = run.shares[0], estimate = ShareOf(measured);
    errors.push_back(std::abs(estimate - truth));
    const auto judge = [&](const Interval& interval, Coverage& coverage) {
      if (interval.low <= truth && truth <= interval.high) coverage.covered += 1;
      coverage.width += interval.high - interval.low;
    };
    // If samples are independent, a sample differs from its neighbour 2 p (1 - p) n times on
    // average.
    const double of_dice = 2 * estimate * (1 - estimate) * static_cast<double>(run.samples.size());
    ShareSamples dice = measured;
    dice.changes = dice.changes_at_two = static_cast<uint64_t>(std::lround(of_dice));
    judge(ShareInterval(dice, estimate), trial.wilson);
    measured.beat_variance = BeatVariance(measured, Excess(run.samples, 0));
    judge(ShareInterval(measured, estimate), trial.ours);
  }
  const auto all = static_cast<double>(runs);
  for (Coverage* coverage : {&trial.ours, &trial.wilson}) {
    coverage->covered /= all;
    coverage->width /= all;
  }
  std::sort(errors.begin(), errors.end());
  trial.narrowest = 2 * errors[static_cast<size_t>(0.95 * all)];
  return trial;
}

std::vector<PairLoad> LoadsOfPairs() {
  return {{"visits far shorter than the distance", 0.05, 1},
          {"visits as long as the distance", 1, 1},
          {"even visits of ten distances", 10, 0.3},
          {"visits of ten distances at random", 10, 1}};
}

PairTrial TryPairs(const PairLoad& load, size_t runs, double samples, uint32_t changed,
                   double points, size_t pairs, Random& random) {
  constexpr double kRate = 0.01;
  const std::vector<double> first = WeightsOfProgram();
  std::vector<double> second = first;
  for (double& weight : second)
    weight *= (1 - first[changed] - points / 100) / (1 - first[changed]);
  second[changed] = first[changed] + points / 100;
  PairTrial trial;
  for (size_t pair = 0; pair < pairs; ++pair) {
    const auto group = [&](const std::vector<double>& weights) {
      std::vector<MeasuredRun> measured;
      for (size_t i = 0; i < runs; ++i) {
        measured.push_back(
            RunOf(ManyFunctions(weights, load.mean, load.varies), weights.size(), samples, random));
      }
      return measured;
    };
    const std::vector<MeasuredRun> before = group(first), after = group(second);
    const std::vector<Change> changes = ChangesOf(GroupsOf(before, after));
    const double significant = LargestSignificantChance(changes, kRate);
    trial.any += significant > 0 ? 1 : 0;
    trial.found += significant > 0 && changes[changed].chance <= significant ? 1 : 0;
  }
  trial.any /= static_cast<double>(pairs);
  trial.found /= static_cast<double>(pairs);
  return trial;
}

std::vector<RunDifferences> KindsOfRunDifferences() {
  return {{"runs are alike", 0, 0},
          {"all functions differ by 5 %", 0.05, 0.05},
          {"one differs by 20 %, others by 2 %", 0.2, 0.02}};
}

MeanTrial TryMeans(const PairLoad& load, const RunDifferences& differences, size_t runs,
                   double samples, size_t groups, Random& random) {
  const std::vector<double> weights = WeightsOfProgram();
  const std::vector<double> truth = TrueMeans(weights, differences, random);
  MeanTrial trial;
  for (size_t group = 0; group < groups; ++group) {
    std::vector<MeasuredRun> measured;
    for (size_t i = 0; i < runs; ++i) {
      const Load varied =
          ManyFunctions(Varied(weights, differences, random), load.mean, load.varies);
      measured.push_back(RunOf(varied, weights.size(), samples, random));
    }
    std::vector<SharesOfRuns> functions;
    for (Groups& of : GroupsOf(measured, {})) functions.push_back(std::move(of.before));
    const std::vector<MeanShare> means = MeanSharesOf(functions);
    for (size_t i = 0; i < means.size(); ++i) {
      Judge(means[i].share, means[i].half_width, truth[i], trial.ours);
      if (i == 0) Judge(means[i].share, means[i].half_width, truth[i], trial.high_variance);
      Judge(means[i].share, StudentsHalfWidth(functions[i]), truth[i], trial.students);
      const RunShare& first = functions[i][0];
      Judge(first.share, ShareInterval(first.samples, first.share).half_width(), truth[i],
            trial.of_one);
    }
  }
  const auto all = static_cast<double>(groups);
  DivideBy(all, trial.high_variance);
  for (Coverage* coverage : {&trial.ours, &trial.students, &trial.of_one}) {
    DivideBy(all * static_cast<double>(weights.size()), *coverage);
  }
  return trial;
}

}  // namespace profiler::estimate
