#include "src/query/measure.h"

#include <algorithm>
#include <limits>
#include <span>

#include "src/base/off_cpu_events.h"
#include "src/estimate/beat.h"
#include "src/estimate/slices.h"
#include "src/estimate/visits.h"

namespace profiler::query {
namespace {

using profile::EventId;
using profile::OrderedSample;
using profile::Profile;
using profile::Row;

constexpr uint64_t kFew = 20;          // samples, of which slices tell nothing
constexpr size_t kMostSlices = 512;    // of a run
constexpr double kWorthABeat = 0.005;  // looking for one in smaller shares would take long

// The rows of the event's samples, by time.
std::vector<uint32_t> RowsByTime(const Profile& profile, EventId event) {
  std::vector<uint32_t> rows;
  for (const OrderedSample& sample : profile.order) {
    if (profile.rows[sample.row].event == event) rows.push_back(sample.row);
  }
  return rows;
}

// The same, stream after stream, with the first of each.
struct Streams {
  std::vector<uint32_t> rows;
  std::vector<size_t> ends;
};

Streams RowsByStream(const Profile& profile, EventId event) {
  std::vector<OrderedSample> samples;
  for (const OrderedSample& sample : profile.order) {
    if (profile.rows[sample.row].event == event) samples.push_back(sample);
  }
  std::stable_sort(
      samples.begin(), samples.end(),
      [](const OrderedSample& a, const OrderedSample& b) { return a.stream < b.stream; });
  Streams streams;
  for (size_t i = 0; i < samples.size(); ++i) {
    streams.rows.push_back(samples[i].row);
    if (i + 1 == samples.size() || samples[i + 1].stream != samples[i].stream) {
      streams.ends.push_back(i + 1);
    }
  }
  return streams;
}

// `keys_of(row)`: the distinct keys that a sample of the row is in.
void CountVisits(const Profile& profile, const Streams& streams, auto keys_of,
                 std::vector<Measured>& measured) {
  estimate::Visits visits(measured.size());
  size_t at = 0;
  for (const size_t end : streams.ends) {
    for (; at < end; ++at) visits.Add(keys_of(profile.rows[streams.rows[at]]));
    visits.EndStream();
  }
  for (KeyId key = 0; key < measured.size(); ++key) measured[key].samples = visits[key];
}

void CountSlices(const Profile& profile, std::span<const uint32_t> rows, auto keys_of,
                 std::vector<Measured>& measured) {
  const size_t slices = estimate::SlicesOf(rows.size());
  if (slices == 0) return;
  for (Measured& of : measured) {
    if (of.samples.count >= kFew) of.excess.resize(slices);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t slice = estimate::SliceOf(i, rows.size(), slices);
    for (const KeyId key : keys_of(profile.rows[rows[i]])) {
      if (!measured[key].excess.empty()) measured[key].excess[slice] += 1;
    }
  }
  for (Measured& of : measured) {
    if (!of.excess.empty()) of.excess = estimate::ExcessOf(of.excess, rows.size());
  }
}

void FindBeats(std::vector<Measured>& measured) {
  for (Measured& of : measured) {
    estimate::ShareSamples& samples = of.samples;
    const auto all = static_cast<double>(samples.samples);
    if (of.excess.empty() || samples.samples - samples.count < kFew ||
        static_cast<double>(samples.count) < kWorthABeat * all) {
      continue;
    }
    if (const auto beat = estimate::FindBeat(of.excess)) samples.beat_variance = beat->variance;
  }
}

}  // namespace

estimate::Interval Measurement::IntervalOf(const Measured& of) const {
  const double share = ShareOf(of);
  if (is_count) return {share, share};
  return estimate::ShareInterval(of.samples, share, inequality);
}

Measurement Measure(const Profile& profile, EventId event, const KeyedRows& keys) {
  Measurement result;
  result.self.resize(keys.size());
  result.total.resize(keys.size());
  for (const Row& row : profile.rows) {
    if (row.event != event) continue;
    result.samples += row.count;
    result.period += row.period;
    result.self[keys.SelfOf(row)].period += row.period;
    for (const KeyId key : keys.AllOf(row)) result.total[key].period += row.period;
  }
  const profile::Event& counted = profile[event];
  const auto samples = static_cast<double>(counted.samples);
  const auto period = static_cast<double>(counted.period);
  if (period > 0 && counted.squared_periods > 0) {
    result.inequality = samples * counted.squared_periods / (period * period);
  }
  result.is_count = counted.period == counted.samples || IsOffCpuEvent(profile.text(counted.name));

  KeyId self = 0;
  const auto self_of = [&](const Row& row) {
    self = keys.SelfOf(row);
    return std::span<const KeyId>(&self, 1);
  };
  const auto all_of = [&](const Row& row) { return keys.AllOf(row); };
  const Streams streams = RowsByStream(profile, event);
  CountVisits(profile, streams, self_of, result.self);
  CountVisits(profile, streams, all_of, result.total);
  const std::vector<uint32_t> by_time = RowsByTime(profile, event);
  CountSlices(profile, by_time, self_of, result.self);
  CountSlices(profile, by_time, all_of, result.total);
  FindBeats(result.self);
  FindBeats(result.total);
  return result;
}

}  // namespace profiler::query
