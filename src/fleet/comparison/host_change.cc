#include "src/fleet/comparison/host_change.h"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "src/analysis/estimate/run_variance.h"
#include "src/analysis/estimate/students_t.h"
#include "src/fleet/comparison/host_values.h"

namespace profiler::fleet {
namespace {

namespace math = boost::math;

using Values = std::vector<HostValue>;

// Returns a tenth of the number of hosts, but at least 1 if there are several hosts, because one
// host among several must never be a change.
size_t TenthOf(size_t hosts) { return hosts < 2 ? 0 : std::max<size_t>(1, hosts / 10); }

// Returns the values in ascending order, without the first or last `count`.
Values Without(Values values, size_t count, bool last) {
  std::ranges::sort(values, {}, &HostValue::value);
  const auto left = static_cast<ptrdiff_t>(values.size() - count);
  return last ? Values(values.begin(), values.begin() + left)
              : Values(values.end() - left, values.end());
}

// The variance of a function's hosts, and the degrees of freedom of this estimate.
struct Spread {
  double variance = 1;  // as a factor of the expected variance
  double freedom = 1;
};

// The answer of one test for one function.
struct Answer {
  double chance = 1;
  double error = 0;
  double freedom = 1;
};
using Answers = std::vector<Answer>;

Answer AnswerOf(double difference, double weight_before, double weight_after,
                const Spread& spread) {
  double variance = 1 / weight_after;
  if (weight_before > 0) variance += 1 / weight_before;
  const double error = std::sqrt(spread.variance * variance);
  return {estimate::ChanceBeyond(difference / error, spread.freedom), error, spread.freedom};
}

// Returns the answer with the larger p-value.
const Answer& LikelierOf(const Answer& a, const Answer& b) { return b.chance > a.chance ? b : a; }

class Comparison {
 public:
  explicit Comparison(std::vector<FunctionValues> functions) : functions_(std::move(functions)) {
    before_ = functions_[0].before.size();
    after_ = functions_[0].after.size();
    const double freedom = FreedomOf(before_) + FreedomOf(after_);
    unlike_ = HeterogeneityOf(functions_, std::max(freedom, 1.0));
  }

  double unlike() const { return unlike_; }

  Answers OfAll() const {
    Answers answers;
    const double freedom = FreedomOf(before_) + FreedomOf(after_);
    if (freedom == 0) return OfSingleHosts();
    std::vector<double> squares;
    for (const FunctionValues& of : functions_) {
      squares.push_back(SquaresOf(of.before) + SquaresOf(of.after));
    }
    const std::vector<Drawn> drawn = DrawnFrom(squares, freedom);
    for (size_t i = 0; i < functions_.size(); ++i) {
      const HostMean before = MeanOrNone(functions_[i].before);
      const HostMean after = MeanOf(functions_[i].after, unlike_);
      const double difference = after.mean - before.mean;
      const Spread spread = AtLeast(functions_[i], drawn[i].together);
      const Answer answer = AnswerOf(difference, before.weight, after.weight, spread);
      // A function that varies far more than the others must also be significant by its own
      // variance.
      const Answer alone =
          AnswerOf(difference, before.weight, after.weight, AtLeast(functions_[i], drawn[i].alone));
      answers.push_back(drawn[i].has_high_variance ? LikelierOf(answer, alone) : answer);
    }
    return answers;
  }

  // Tests the hosts of one group one by one. Estimates the variation from only the other group,
  // `group`, which must have at least two hosts.
  Answers ByGroup(Values FunctionValues::*group) const {
    const double freedom = FreedomOf((functions_[0].*group).size());
    std::vector<double> squares;
    for (const FunctionValues& of : functions_) squares.push_back(SquaresOf(of.*group));
    return OneByOne(DrawnFrom(squares, freedom), group == &FunctionValues::after);
  }

  // Tests the differences of pairs. Estimates their variation from the half of the pairs that
  // speaks least for a change.
  Answers ByQuietHalf() const {
    std::vector<double> squares;
    const double freedom = FreedomOf(after_ / 2);
    for (const FunctionValues& of : functions_) {
      const bool grows = MeanOf(of.after, unlike_).mean > 0;
      const Values half = Without(of.after, after_ - after_ / 2, /*last=*/grows);
      const double middle = MiddleOf(of.after);
      const auto size = static_cast<double>(half.size());
      squares.push_back(SquaresAround(middle, half, unlike_) * freedom / (size - 0.5));
    }
    return OneByOne(DrawnFrom(squares, freedom), /*by_after=*/false);
  }

 private:
  struct Drawn {
    Spread together, alone;
    bool has_high_variance = false;
  };

  static double FreedomOf(size_t hosts) { return hosts == 0 ? 0 : static_cast<double>(hosts) - 1; }

  static double MiddleOf(const Values& values) {
    std::vector<double> sorted;
    for (const HostValue& of : values) sorted.push_back(of.value);
    std::ranges::sort(sorted);
    const size_t size = sorted.size();
    return (sorted[(size - 1) / 2] + sorted[size / 2]) / 2;
  }

  HostMean MeanOrNone(const Values& values) const {
    return values.empty() ? HostMean{} : MeanOf(values, unlike_);
  }

  double SquaresOf(const Values& values) const {
    return values.empty() ? 0 : SquaresAround(MeanOf(values, unlike_).mean, values, unlike_);
  }

  static std::vector<Drawn> DrawnFrom(std::span<const double> squares, double freedom) {
    // A smaller variance only shows that the function is rare; it does not show how much functions
    // differ in their variance.
    constexpr double kLeast = 1e-3;
    // Limits the degrees of freedom, because a few hosts cannot show which functions vary more than
    // others.
    const double most = std::max(3 * freedom, freedom * freedom);
    std::vector<estimate::VarianceSeen> seen;
    for (const double of : squares) {
      seen.push_back({.between_runs = std::max(of / freedom, kLeast), .by_samples = 1});
    }
    std::vector<Drawn> drawn;
    for (size_t i = 0; const estimate::RunVariance& of : estimate::ShrunkVariances(seen, freedom)) {
      drawn.push_back({.together = {of.variance, std::min(of.freedom, most)},
                       .alone = {seen[i].between_runs, freedom},
                       .has_high_variance = of.has_high_variance});
      ++i;
    }
    return drawn;
  }

  Spread AtLeast(const FunctionValues& of, Spread spread) const {
    double least = LeastVariance(of.after, unlike_);
    if (!of.before.empty()) least = std::min(least, LeastVariance(of.before, unlike_));
    spread.variance = std::max(spread.variance, least);
    return spread;
  }

  Answers OfSingleHosts() const {
    // This number is assumed, because single hosts cannot show how much functions differ in their
    // variance.
    constexpr double kFreedom = 4;
    Answers answers;
    for (const FunctionValues& of : functions_) {
      const HostMean before = MeanOrNone(of.before), after = MeanOf(of.after, unlike_);
      answers.push_back(AnswerOf(after.mean - before.mean, before.weight, after.weight,
                                 {.variance = 1, .freedom = kFreedom}));
    }
    return answers;
  }

  // A function's values, without the tenth of each group that speaks most for a change.
  struct Rest {
    Values before, after;
    HostMean mean_before, mean_after;
    bool grows = false;
  };

  Rest RestOf(const FunctionValues& of) const {
    Rest rest;
    rest.grows = MeanOf(of.after, unlike_).mean > MeanOrNone(of.before).mean;
    rest.after = Without(of.after, TenthOf(after_), rest.grows);
    rest.mean_after = MeanOf(rest.after, unlike_);
    if (of.before.empty()) return rest;
    rest.before = Without(of.before, TenthOf(before_), !rest.grows);
    rest.mean_before = MeanOf(rest.before, unlike_);
    return rest;
  }

  Answers OneByOne(const std::vector<Drawn>& drawn, bool by_after) const {
    Answers answers;
    for (size_t i = 0; i < functions_.size(); ++i) {
      const FunctionValues& of = functions_[i];
      const Rest rest = RestOf(of);
      const Answer together = EachOf(rest, AtLeast(of, drawn[i].together), by_after);
      const Answer alone = EachOf(rest, AtLeast(of, drawn[i].alone), by_after);
      answers.push_back(drawn[i].has_high_variance ? LikelierOf(together, alone) : together);
    }
    return answers;
  }

  // Tests whether single hosts of one group are far from the mean of the other group. Adds up the
  // squared distances in the direction of the change. No host counts for more than six standard
  // errors, so that two odd hosts are not a change.
  Answer EachOf(const Rest& rest, const Spread& spread, bool by_after) const {
    constexpr double kMostOfOne = 36;
    const Values& hosts = by_after ? rest.before : rest.after;
    const HostMean& middle = by_after ? rest.mean_after : rest.mean_before;
    const bool upwards = rest.grows != by_after;
    const double of_middle = middle.weight > 0 ? 1 / middle.weight : 0;
    double squares = 0;
    for (const HostValue& host : hosts) {
      const double off = host.value - middle.mean;
      const double variance = spread.variance * (host.Expected(unlike_) + of_middle);
      if ((off > 0) == upwards) squares += std::min(kMostOfOne, off * off / variance);
    }
    const auto count = static_cast<double>(hosts.size());
    return {.chance = math::cdf(
                math::complement(math::fisher_f(count, spread.freedom), squares / count))};
  }

  std::vector<FunctionValues> functions_;
  size_t before_ = 0, after_ = 0;
  double unlike_ = 0;
};

// Numbers of samples in both groups: the samples of one function, and all samples. The latter are
// multiplied by each host's scale.
struct Sums {
  double before = 0, after = 0;
  double all_before = 0, all_after = 0;

  double usual() const { return (before + after) / (all_before + all_after); }
  double chance() const {
    return estimate::ChanceOfParting(before, after, all_after / (all_before + all_after));
  }
};

Sums SumsOf(const ComparedHosts& hosts, const OfHosts& shares) {
  Sums sums;
  const auto add = [&](std::vector<double> OfHosts::*group, double& count, double& all) {
    for (size_t i = 0; i < (shares.*group).size(); ++i) {
      const double samples = (hosts.samples.*group)[i];
      count += (shares.*group)[i] * samples;
      all += (hosts.scales.scales.*group)[i] * samples;
    }
  };
  add(&OfHosts::before, sums.before, sums.all_before);
  add(&OfHosts::after, sums.after, sums.all_after);
  return sums;
}

FunctionValues ValuesOf(const ComparedHosts& hosts, const OfHosts& shares, double usual) {
  FunctionValues values;
  const auto add = [&](std::vector<double> OfHosts::*group, Values& to) {
    for (size_t i = 0; i < (shares.*group).size(); ++i) {
      to.push_back(ValueOf((shares.*group)[i], usual, (hosts.samples.*group)[i],
                           (hosts.scales.scales.*group)[i], (hosts.scales.errors.*group)[i]));
    }
  };
  add(&OfHosts::before, values.before);
  add(&OfHosts::after, values.after);
  return values;
}

FunctionValues DifferencesOf(const FunctionValues& of) {
  FunctionValues pairs;
  for (size_t i = 0; i < of.after.size(); ++i) {
    pairs.after.push_back(DifferenceOf(of.before[i], of.after[i]));
  }
  return pairs;
}

}  // namespace

std::vector<estimate::Change> HostChangesOf(const ComparedHosts& hosts,
                                            std::span<const OfHosts> shares) {
  if (shares.empty()) return {};
  const size_t before = hosts.samples.before.size(), after = hosts.samples.after.size();
  // A single pair is tested like two groups of one host each. One difference alone would not show
  // its error; the values of both hosts show it.
  const bool are_pairs = hosts.are_pairs && after > 1;
  std::vector<Sums> sums;
  std::vector<FunctionValues> values, compared;
  for (const OfHosts& of : shares) {
    sums.push_back(SumsOf(hosts, of));
    values.push_back(ValuesOf(hosts, of, sums.back().usual()));
    compared.push_back(are_pairs ? DifferencesOf(values.back()) : values.back());
  }
  const Comparison comparison(std::move(compared));
  constexpr size_t kFewestPairs = 6;  // fewer have no half from which to estimate the variation
  std::vector<Answers> answers = {comparison.OfAll()};
  if (are_pairs && after >= kFewestPairs) answers.push_back(comparison.ByQuietHalf());
  if (!are_pairs && before > 1) {
    answers.push_back(comparison.ByGroup(&FunctionValues::before));
  }
  if (!are_pairs && after > 1) answers.push_back(comparison.ByGroup(&FunctionValues::after));
  std::vector<estimate::Change> changes;
  for (size_t i = 0; i < shares.size(); ++i) {
    estimate::Change change{.before = MeanOf(values[i].before, comparison.unlike()).mean,
                            .after = MeanOf(values[i].after, comparison.unlike()).mean,
                            .error = answers[0][i].error,
                            .freedom = answers[0][i].freedom};
    double least = 1;
    for (const Answers& of : answers) least = std::min(least, of[i].chance);
    change.chance =
        std::min(1.0, std::max(least * static_cast<double>(answers.size()), sums[i].chance()));
    changes.push_back(change);
  }
  return changes;
}

namespace {

// Marks functions that have probably changed, at most a quarter of all functions. If one function
// changes much, the shares of all functions differ. Even then the changed function is the most
// significant one.
std::vector<bool> LikelyChanged(std::span<const estimate::Change> changes) {
  constexpr double kRate = 0.1;  // part of the marked functions that may be unchanged
  const double likely = estimate::LargestSignificantChance(changes, kRate);
  std::vector<size_t> changed;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (changes[i].chance <= likely) changed.push_back(i);
  }
  const auto errors = [&](size_t i) {
    return -std::abs(changes[i].difference() / changes[i].error);
  };
  std::ranges::sort(changed, {}, errors);
  changed.resize(std::min(changed.size(), changes.size() / 4));
  std::vector<bool> result(changes.size());
  for (const size_t i : changed) result[i] = true;
  return result;
}

}  // namespace

HostScales SettledScalesOf(const OfHosts& samples, std::span<const OfHosts> shares,
                           bool are_pairs) {
  constexpr int kRounds = 3;
  std::vector<bool> left_out(shares.size());
  HostScales scales = ScalesOf(samples, shares);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<bool> changed = LikelyChanged(
        HostChangesOf({.samples = samples, .scales = scales, .are_pairs = are_pairs}, shares));
    if (changed == left_out) break;
    left_out = std::move(changed);
    scales = ScalesOf(samples, shares, left_out);
  }
  return scales;
}

}  // namespace profiler::fleet
