#include "tests/estimate/losses.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "src/analysis/estimate/beat.h"
#include "src/analysis/estimate/missing.h"
#include "src/analysis/estimate/slices.h"
#include "src/analysis/estimate/visits.h"
#include "src/profile/placeholders.h"

namespace profiler::estimate {
namespace {

// Returns a kind of loss that loses and keeps pieces of random lengths in turn. The loss begins and
// ends at the shares `begin` and `end` of the run. `lost` and `taken` are the mean numbers of
// samples in a lost piece and in a kept piece.
LossKind InTurn(std::string name, double lost, double taken, double begin, double end) {
  return {std::move(name), [=](const std::vector<uint32_t>& samples, Random& random) {
            std::vector<bool> is_lost(samples.size());
            const auto all = static_cast<double>(samples.size());
            bool loses = true;
            double left = 0;
            for (auto i = static_cast<size_t>(all * begin); static_cast<double>(i) < all * end;
                 ++i) {
              while (left < 1) {
                loses = !loses;
                const double mean = loses ? lost : taken;
                left += mean * std::uniform_real_distribution<>(0.5, 1.5)(random);
              }
              is_lost[i] = loses;
              left -= 1;
            }
            return is_lost;
          }};
}

LossKind InOnePiece(double part) {
  return {absl::StrCat("a ", std::lround(1 / part), "th in one piece"),
          [part](const std::vector<uint32_t>& samples, Random& random) {
            const auto all = static_cast<double>(samples.size());
            const double begin = std::uniform_real_distribution<>(0, 1 - part)(random) * all;
            std::vector<bool> is_lost(samples.size());
            for (size_t i = 0; i < samples.size(); ++i) {
              const auto at = static_cast<double>(i);
              is_lost[i] = at >= begin && at < begin + part * all;
            }
            return is_lost;
          }};
}

// The samples of a run that are not lost, and the gaps between them.
struct LossyRun {
  std::vector<uint32_t> samples;
  std::vector<profile::Gap> gaps;
};

LossyRun Lose(const std::vector<uint32_t>& samples, const std::vector<bool>& is_lost) {
  LossyRun run;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!is_lost[i]) {
      run.samples.push_back(samples[i]);
    } else if (i > 0 && is_lost[i - 1]) {
      run.gaps.back().samples += 1;
    } else {
      run.gaps.push_back({run.samples.size(), 1});
    }
  }
  return run;
}

ShareSamples Measured(const std::vector<uint32_t>& samples) {
  Visits visits(2);
  std::vector<float> counts(SlicesOf(samples.size()));
  for (size_t i = 0; i < samples.size(); ++i) {
    visits.Add({&samples[i], 1});
    if (samples[i] == 0 && !counts.empty()) {
      counts[SliceOf(i, samples.size(), counts.size())] += 1;
    }
  }
  visits.EndStream();
  ShareSamples measured = visits[0];
  if (!counts.empty()) {
    measured.beat_variance = BeatVariance(measured, ExcessOf(counts, samples.size()));
  }
  return measured;
}

void Judge(double share, const Interval& interval, double truth, LossFigures& figures) {
  figures.bias += share - truth;
  figures.error += std::abs(share - truth);
  if (interval.low <= truth && truth <= interval.high) figures.interval.covered += 1;
  figures.interval.width += interval.high - interval.low;
}

void TryOne(const LossyRun& run, double truth, LossTrial& trial) {
  ShareSamples measured = Measured(run.samples);
  const auto n = static_cast<double>(measured.samples);
  const double raw = static_cast<double>(measured.count) / n;
  Judge(raw, ShareInterval(measured, raw), truth, trial.raw);

  const std::vector<profile::Placeholder> placeholders =
      profile::PlaceholdersFor(run.samples.size(), run.gaps);
  Missing missing;
  double weight = 0, squares = 0;
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const double of = placeholders[i].weight;
    missing.Add(of, placeholders[i].gap);
    if (run.samples[i] != 0) continue;
    weight += of;
    squares += of * of;
  }
  const double share = weight / (n + missing.samples());
  measured.missing_variance = missing.VarianceOf(measured);
  Judge(share, ShareInterval(measured, share, missing.InequalityOf(share, squares)), truth,
        trial.ours);
}

}  // namespace

std::vector<LossKind> KindsOfLoss() {
  return {InOnePiece(0.1),
          InTurn("bursts of 3, a quarter", 3, 9, 0, 1),
          InTurn("bursts of 30, a quarter", 30, 90, 0, 1),
          InTurn("bursts of 300, a quarter", 300, 900, 0, 1),
          InTurn("in a phase, half, by 3", 3, 3, 1. / 3, 0.5),
          InTurn("in a phase, half, by 30", 30, 30, 1. / 3, 0.5),
          InTurn("in a phase, nine tenths, by 90", 90, 10, 1. / 3, 0.5),
          InTurn("in a phase, nine tenths, by 900", 900, 100, 1. / 3, 0.5)};
}

LossTrial TryLosses(const LoadKind& load, const LossKind& loss, double share, double samples,
                    size_t runs, Random& random) {
  LossTrial trial;
  for (size_t i = 0; i < runs; ++i) {
    const double length = samples * (0.8 + 0.4 * std::uniform_real_distribution<>(0, 1)(random));
    const SampledRun run = Sample(load.make(share, length, random), 2, length, random);
    const LossyRun left = Lose(run.samples, loss.lose(run.samples, random));
    trial.lost +=
        1 - static_cast<double>(left.samples.size()) / static_cast<double>(run.samples.size());
    TryOne(left, run.shares[0], trial);
  }
  const auto all = static_cast<double>(runs);
  trial.lost /= all;
  for (LossFigures* figures : {&trial.raw, &trial.ours}) {
    figures->bias /= all;
    figures->error /= all;
    figures->interval.covered /= all;
    figures->interval.width /= all;
  }
  return trial;
}

}  // namespace profiler::estimate
