#include "src/analysis/measure.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "src/analysis/estimate/beat.h"
#include "src/analysis/estimate/slices.h"
#include "src/analysis/estimate/visits.h"
#include "src/analysis/missing_periods.h"
#include "src/format/perf_event/off_cpu_events.h"

namespace profiler::analysis {
namespace {

using profile::EventId;
using profile::OrderedSample;
using profile::Profile;
using profile::Row;

constexpr uint64_t kFew = 20;  // with fewer samples, slices show nothing

// Returns the event's counted samples in time order.
std::vector<OrderedSample> SamplesOf(const Profile& profile, EventId event,
                                     const SampleKeys& keys) {
  std::vector<OrderedSample> samples;
  for (const OrderedSample& sample : profile.order) {
    if (profile.rows[sample.row].event != event || !keys.IsCounted(sample.row)) continue;
    samples.push_back(sample);
  }
  return samples;
}

// Sorts samples by stream, in time order within a stream.
std::vector<OrderedSample> ByStream(std::vector<OrderedSample> samples) {
  std::stable_sort(
      samples.begin(), samples.end(),
      [](const OrderedSample& a, const OrderedSample& b) { return a.stream < b.stream; });
  return samples;
}

// Counts visits. `keys_of(row)` returns the distinct keys of the row's samples.
void CountVisits(std::span<const OrderedSample> by_stream, auto keys_of,
                 std::vector<Measured>& measured) {
  estimate::Visits visits(measured.size());
  for (size_t i = 0; i < by_stream.size(); ++i) {
    if (i > 0 && by_stream[i].stream != by_stream[i - 1].stream) visits.EndStream();
    visits.Add(keys_of(by_stream[i].row));
  }
  visits.EndStream();
  for (KeyId key = 0; key < measured.size(); ++key) measured[key].samples = visits[key];
}

void CountSlices(std::span<const OrderedSample> by_time, auto keys_of,
                 std::vector<Measured>& measured) {
  const size_t slices = estimate::SlicesOf(by_time.size());
  if (slices == 0) return;
  for (Measured& of : measured) {
    if (of.samples.count >= kFew) of.excess.resize(slices);
  }
  for (size_t i = 0; i < by_time.size(); ++i) {
    const size_t slice = estimate::SliceOf(i, by_time.size(), slices);
    for (const KeyId key : keys_of(by_time[i].row)) {
      if (!measured[key].excess.empty()) measured[key].excess[slice] += 1;
    }
  }
  for (Measured& of : measured) {
    if (of.excess.empty()) continue;
    of.excess = estimate::ExcessOf(of.excess, by_time.size());
    of.samples.beat_variance = estimate::BeatVariance(of.samples, of.excess);
  }
}

// Widens the intervals for missing samples.
void WidenForMissing(std::span<const OrderedSample> samples, auto keys_of,
                     const MissingPeriods& missing, const Measurement& measurement,
                     std::vector<Measured>& measured) {
  std::vector<double> squares(measured.size());
  for (const OrderedSample& sample : samples) {
    for (const KeyId key : keys_of(sample.row)) {
      squares[key] += double{sample.weight} * sample.weight;
    }
  }
  for (KeyId key = 0; key < measured.size(); ++key) {
    Measured& of = measured[key];
    of.inequality *= missing.chance().InequalityOf(measurement.ShareOf(of), squares[key]);
    of.samples.missing_variance = missing.chance().VarianceOf(of.samples);
  }
}

}  // namespace

estimate::Interval Measurement::IntervalOf(const Measured& of) const {
  const double share = ShareOf(of);
  if (is_count) return {share, share};
  if (estimated > 0) return estimate::PartlyEstimatedInterval(share, estimated, estimated_samples);
  return estimate::ShareInterval(of.samples, share, of.inequality);
}

uint64_t Measurement::SamplesToTell(const Measured& a, const Measured& b) const {
  if (estimated > 0 || !IntervalOf(a).Overlaps(IntervalOf(b))) return 0;
  // Returns the taken samples, distributed by shares that include the missing samples.
  const auto parted = [this](const Measured& of) {
    estimate::ShareSamples taken = of.samples;
    if (missing_part == 0) return taken;
    taken.count =
        static_cast<uint64_t>(std::llround(ShareOf(of) * static_cast<double>(taken.samples)));
    return taken;
  };
  return estimate::SamplesToSeparate(parted(a), parted(b));
}

Measurement Measure(const Profile& profile, EventId event, const SampleKeys& keys) {
  Measurement result;
  result.self.resize(keys.keys());
  result.total.resize(keys.keys());
  const MissingPeriods missing(profile, event);
  result.missing_part = missing.part();
  for (uint32_t i = 0; i < profile.rows.size(); ++i) {
    const Row& row = profile.rows[i];
    if (row.event != event || !keys.IsCounted(i)) continue;
    const double lacks = missing.PeriodOf(i);
    const auto add = [&](auto& to) {
      to.period += row.period;
      to.missing += lacks;
    };
    result.samples += row.count;
    add(result);
    if (const KeyId own = keys.OwnKeyOf(i); own != kNoKey) add(result.self[own]);
    for (const KeyId key : keys.KeysOf(i)) add(result.total[key]);
  }
  const profile::Event& counted = profile[event];
  const auto samples = static_cast<double>(counted.samples);
  const auto period = static_cast<double>(counted.period);
  if (period > 0 && counted.squared_periods > 0) {
    result.inequality = samples * counted.squared_periods / (period * period);
  }
  const bool is_each_one = counted.period == counted.samples && !counted.frequency;
  result.is_count = !missing.any() && (is_each_one || IsOffCpuEvent(profile.text(counted.name)));
  if (result.is_count && counted.estimate.period > 0 && result.period > 0) {
    result.is_count = false;
    // A selection of samples may contain all estimated time, so the part is limited to 1.
    result.estimated = std::min(
        1.0, static_cast<double>(counted.estimate.period) / static_cast<double>(result.period));
    result.estimated_samples =
        counted.estimate.samples * std::min(1.0, static_cast<double>(result.period) / period);
  }
  for (std::vector<Measured>* all : {&result.self, &result.total}) {
    for (Measured& of : *all) of.inequality = result.inequality;
  }

  KeyId own = kNoKey;
  const auto own_of = [&](uint32_t row) {
    own = keys.OwnKeyOf(row);
    return std::span<const KeyId>(&own, own == kNoKey ? 0 : 1);
  };
  const auto all_of = [&](uint32_t row) { return keys.KeysOf(row); };
  const std::vector<OrderedSample> by_time = SamplesOf(profile, event, keys);
  const std::vector<OrderedSample> by_stream = ByStream(by_time);
  CountVisits(by_stream, own_of, result.self);
  CountVisits(by_stream, all_of, result.total);
  CountSlices(by_time, own_of, result.self);
  CountSlices(by_time, all_of, result.total);
  if (missing.any()) {
    WidenForMissing(by_time, own_of, missing, result, result.self);
    WidenForMissing(by_time, all_of, missing, result, result.total);
  }
  return result;
}

}  // namespace profiler::analysis
