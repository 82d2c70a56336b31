#include "src/profile/row_table.h"

#include <algorithm>

namespace profiler::profile {
namespace {

constexpr auto kCpu = static_cast<size_t>(Dimension::kCpu);
constexpr auto kSlice = static_cast<size_t>(Dimension::kSlice);
constexpr auto kParallelism = static_cast<size_t>(Dimension::kParallelism);
constexpr auto kTime = static_cast<size_t>(Dimension::kTime);
constexpr auto kCgroup = static_cast<size_t>(Dimension::kCgroup);
constexpr auto kTrace = static_cast<size_t>(Dimension::kTrace);
constexpr auto kAccess = static_cast<size_t>(Dimension::kAccess);
constexpr auto kData = static_cast<size_t>(Dimension::kData);

}  // namespace

// Returns the sample's dimensions, and widens its slice to the sample's time.
RowTable::Values RowTable::ValuesOf(const SampleRow& sample) {
  Values values{};
  if (kept_[kCpu]) values[kCpu] = sample.cpu;
  if (kept_[kParallelism]) values[kParallelism] = sample.parallelism;
  if (kept_[kSlice]) {
    values[kSlice] = profile_.slices.SliceOf(sample.time);
    TimeSlices::Slice& slice = profile_.slices.slices[values[kSlice]];
    slice.first = std::min(slice.first, sample.time);
    slice.last = std::max(slice.last, sample.time);
  }
  if (kept_[kTime]) values[kTime] = QuantumOf(sample.time);
  if (kept_[kCgroup]) values[kCgroup] = static_cast<uint32_t>(sample.cgroup);
  if (kept_[kTrace]) values[kTrace] = static_cast<uint32_t>(sample.trace);
  if (kept_[kAccess]) values[kAccess] = sample.access;
  if (kept_[kData]) values[kData] = sample.data;
  return values;
}

uint32_t RowTable::QuantumOf(uint64_t time) {
  TimeQuanta& quanta = profile_.quanta;
  const uint64_t begin = time - time % quanta.length;
  const auto [known, is_new] = quanta_.try_emplace(begin, quanta.begins.size());
  if (is_new) quanta.begins.push_back(begin);
  return known->second;
}

uint64_t RowTable::Hash(const Row& row, const Values& values) const {
  const auto pair = [](auto a, auto b) {
    return static_cast<uint64_t>(a) << 32 | static_cast<uint64_t>(b);
  };
  uint64_t hash =
      Mix(pair(row.thread, row.stack), pair(row.self, static_cast<uint32_t>(row.event)));
  for (size_t i = 0; i < values.size(); ++i) {
    if (kept_[i]) hash = Mix(hash, values[i]);
  }
  return hash;
}

bool RowTable::IsIn(const Row& row, const Values& values, uint32_t id) const {
  const Row& other = profile_.rows[id];
  if (row.stack != other.stack || row.thread != other.thread || row.self != other.self ||
      row.event != other.event) {
    return false;
  }
  for (size_t i = 0; i < kDimensionsOfSamples; ++i) {
    if (kept_[i] && values[i] != profile_.columns[i][id]) return false;
  }
  return true;
}

void RowTable::Prefetch(const Row& row, const Values& values, uint32_t known) const {
  if (known == UINT32_MAX) {
    index_.Prefetch(Hash(row, values));
  } else {
    __builtin_prefetch(&profile_.rows[known], 1);
  }
}

// Prefetches memory for all samples before it waits for the memory of the first one.
std::span<const uint32_t> RowTable::Add(std::span<const SampleRow> samples,
                                        std::span<uint32_t* const> hints) {
  values_.clear();
  found_.clear();
  for (size_t i = 0; i < samples.size(); ++i) {
    values_.push_back(ValuesOf(samples[i]));
    Prefetch(samples[i], values_[i], *hints[i]);
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    Add(samples[i], values_[i], hints[i]);
    found_.push_back(*hints[i]);
  }
  return found_;
}

void RowTable::Add(const Row& row, const Values& values, uint32_t* known) {
  if (*known == UINT32_MAX || !IsIn(row, values, *known)) {
    *known = index_.FindOrInsert(
        Hash(row, values), [&](uint32_t id) { return IsIn(row, values, id); },
        [&] {
          profile_.rows.push_back(row);
          profile_.rows.back().count = 0;
          profile_.rows.back().period = 0;
          for (size_t i = 0; i < kDimensionsOfSamples; ++i) {
            if (kept_[i]) profile_.columns[i].push_back(values[i]);
          }
          return static_cast<uint32_t>(profile_.rows.size() - 1);
        });
  }
  profile_.rows[*known].count += row.count;
  profile_.rows[*known].period += row.period;
}

// Only rows of an entry that several former entries became can be equal now. All others only move
// down.
void RowTable::PutThreads(std::span<const ThreadId> threads) {
  HugeVector<Row>& rows = profile_.rows;
  std::vector<uint32_t> former(threads.size());  // [entry]: the number of its former entries
  for (const ThreadId entry : threads) ++former[static_cast<uint32_t>(entry)];
  std::vector<uint32_t> moved(profile_.order.empty() ? 0 : rows.size());
  index_ = {};
  uint32_t kept = 0;
  for (size_t id = 0; id < rows.size(); ++id) {
    Row row = rows[id];
    row.thread = threads[static_cast<uint32_t>(row.thread)];
    Values values{};
    for (size_t i = 0; i < kDimensionsOfSamples; ++i) {
      if (kept_[i]) values[i] = profile_.columns[i][id];
    }
    const auto keep = [&] {
      rows[kept] = row;
      for (size_t i = 0; i < kDimensionsOfSamples; ++i) {
        if (kept_[i]) profile_.columns[i][kept] = values[i];
      }
      return kept++;
    };
    const bool is_alone = former[static_cast<uint32_t>(row.thread)] == 1;
    const uint32_t end = kept;
    const uint32_t place =
        is_alone ? keep()
                 : index_.FindOrInsert(
                       Hash(row, values), [&](uint32_t other) { return IsIn(row, values, other); },
                       keep);
    if (place != end) {
      rows[place].count += row.count;
      rows[place].period += row.period;
    }
    if (!moved.empty()) moved[id] = place;
  }
  rows.resize(kept);
  for (size_t i = 0; i < kDimensionsOfSamples; ++i) {
    if (kept_[i]) profile_.columns[i].resize(kept);
  }
  for (OrderedSample& sample : profile_.order) sample.row = moved[sample.row];
}

}  // namespace profiler::profile
