#include "src/fleet/comparison/host_scale.h"

#include <algorithm>
#include <cstddef>

namespace profiler::fleet {
namespace {

struct Weighted {
  double value = 0, weight = 0;
};

double MedianOf(std::vector<Weighted> values) {
  std::sort(values.begin(), values.end(),
            [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double half = 0;
  for (const Weighted& of : values) half += of.weight / 2;
  for (const Weighted& of : values) {
    half -= of.weight;
    if (half <= 0) return of.value;
  }
  return values.back().value;
}

struct Scale {
  double scale = 1;
  double error = 0;
};

class Ratios {
 public:
  explicit Ratios(double samples) : samples_(samples) {}

  void Add(double share, double usual) {
    constexpr double kFewest = 30;    // samples
    constexpr double kUnlike = 0.05;  // relative error that more samples do not reduce
    const double expected = usual * samples_;
    if (expected < kFewest) return;
    // The median of counts is lower than their mean. The term of ⅓ sample makes up for that.
    const double ratio = (share + 1 / (3 * samples_)) / usual;
    ratios_.push_back({ratio, 1 / (1 / expected + kUnlike * kUnlike)});
    weights_ += ratios_.back().weight;
  }

  Scale Median() && {
    constexpr size_t kFewest = 3;
    constexpr double kOfMedian = 1.57;  // variance of a median, relative to that of a mean
    if (ratios_.size() < kFewest) return {};
    const double median = MedianOf(std::move(ratios_));
    // This host gets the scale 1, because it runs almost none of the usual functions.
    if (median <= 0) return {};
    return {median, kOfMedian / weights_};
  }

 private:
  const double samples_;
  std::vector<Weighted> ratios_;
  double weights_ = 0;
};

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// Returns the mean share over all hosts, by function.
std::vector<double> UsualShares(const OfHosts& samples, std::span<const OfHosts> shares) {
  const auto hosts = static_cast<double>(samples.before.size() + samples.after.size());
  std::vector<double> usual;
  for (const OfHosts& of : shares) usual.push_back((Sum(of.before) + Sum(of.after)) / hosts);
  return usual;
}

}  // namespace

HostScales ScalesOf(const OfHosts& samples, std::span<const OfHosts> shares,
                    const std::vector<bool>& left_out) {
  const std::vector<double> usual = UsualShares(samples, shares);
  HostScales result;
  const auto add = [&](std::vector<double> OfHosts::*group) {
    for (size_t host = 0; host < (samples.*group).size(); ++host) {
      Ratios ratios((samples.*group)[host]);
      for (size_t i = 0; i < shares.size(); ++i) {
        if (left_out.empty() || !left_out[i]) ratios.Add((shares[i].*group)[host], usual[i]);
      }
      const Scale scale = std::move(ratios).Median();
      (result.scales.*group).push_back(scale.scale);
      (result.errors.*group).push_back(scale.error);
    }
  };
  add(&OfHosts::before);
  add(&OfHosts::after);
  const double before =
      Sum(result.scales.before) / static_cast<double>(result.scales.before.size());
  for (double& scale : result.scales.before) scale /= before;
  for (double& scale : result.scales.after) scale /= before;
  return result;
}

}  // namespace profiler::fleet
