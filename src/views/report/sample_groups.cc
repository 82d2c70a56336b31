#include "src/views/report/sample_groups.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/analysis/stack_walk.h"

namespace profiler::report {

using profile::Profile;
using profile::Row;
using profile::Thread;

namespace {

constexpr uint32_t kNone = 0xffffffff;

bool IsInSlices(const SliceFilter& slices, const Profile& profile, size_t row) {
  if (!slices) return true;
  const uint32_t slice = profile.column(profile::Dimension::kSlice)[row];
  return slice >= slices->first && slice <= slices->second;
}

}  // namespace

std::vector<uint32_t> ThreadGroups(const Profile& profile, const HistOptions& options) {
  std::vector<uint32_t> group_of(profile.threads.size(), 0);
  for (const SortKey key : options.sort) {
    const SortKeyEntry& entry = EntryOf(key);
    if (entry.kind != KeyKind::kThread) continue;
    const auto [id, name] = std::pair(entry.thread.id, entry.thread.name);
    absl::flat_hash_map<uint64_t, uint32_t> known;  // subdivision, keyed by group and value
    for (size_t i = 0; i < group_of.size(); ++i) {
      const Thread& thread = profile.threads[i];
      const uint32_t value = id != nullptr ? id(thread) : static_cast<uint32_t>(name(thread));
      const uint64_t subdivision = uint64_t{group_of[i]} << 32 | value;
      group_of[i] = known.try_emplace(subdivision, known.size()).first->second;
    }
  }
  return group_of;
}

FinerGroups::FinerGroups(const Profile& profile, const HistOptions& options) {
  for (const SortKey key : options.sort) {
    const auto dimension = DimensionOf(key);
    if (!dimension || profile.column(*dimension).empty()) continue;
    steps_.emplace_back().column = &profile.column(*dimension);
  }
}

uint32_t FinerGroups::Of(uint32_t group, size_t row) {
  for (Step& step : steps_) {
    const auto key = uint64_t{group} << 32 | (*step.column)[row];
    group = step.known.try_emplace(key, step.known.size()).first->second;
  }
  return group;
}

SampleGroups::SampleGroups(const Profile& profile, profile::EventId event,
                           const HistOptions& options) {
  const analysis::RowFilter filter(profile, options.filter);
  const std::vector<uint32_t> thread_group = ThreadGroups(profile, options);
  FinerGroups finer(profile, options);

  HugeVector<uint32_t> group_of(profile.rows.size(), kNone);
  std::vector<size_t> sizes;
  for (uint32_t i = 0; i < profile.rows.size(); ++i) {
    const Row& sample = profile.rows[i];
    if (sample.event != event) continue;
    const bool passes = filter.Passes(sample) && options.column_filter.Passes(profile, i) &&
                        IsInSlices(options.slices, profile, i);
    if (passes || !options.relative_percentages) total_ += WeightOf(sample);
    if (!passes) continue;
    const uint32_t group = finer.Of(thread_group[static_cast<uint32_t>(sample.thread)], i);
    if (group >= sizes.size()) sizes.resize(group + 1, 0);
    ++sizes[group];
    group_of[i] = group;
  }

  first_.push_back(0);
  for (const size_t size : sizes) first_.push_back(first_.back() + size);
  samples_.resize(first_.back());
  std::vector<size_t> next = first_;
  for (uint32_t i = 0; i < group_of.size(); ++i) {
    if (group_of[i] != kNone) samples_[next[group_of[i]]++] = i;
  }
  if (options.children || options.chains) PutDepthFirst(profile);
}

void SampleGroups::PutDepthFirst(const Profile& profile) {
  const HugeVector<uint32_t> numbers = analysis::DepthFirst(profile.stacks);
  for (size_t group = 0; group < size(); ++group) {
    analysis::SortDepthFirst(
        profile, numbers,
        std::span(samples_).subspan(first_[group], first_[group + 1] - first_[group]));
  }
}

}  // namespace profiler::report
