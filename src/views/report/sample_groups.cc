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

GroupNumbers::GroupNumbers(const Profile& profile, const HistOptions& options) : profile_(profile) {
  for (const SortKey key : options.sort) {
    const SortKeyEntry& entry = EntryOf(key);
    if (entry.kind == KeyKind::kThread)
      thread_steps_.push_back({.value = entry.thread, .known = {}});
    const auto dimension = DimensionOf(key);
    if (!dimension || profile.column(*dimension).empty()) continue;
    column_steps_.emplace_back().column = &profile.column(*dimension);
  }
}

uint32_t GroupNumbers::Of(profile::ThreadId thread, size_t row) {
  while (group_of_thread_.size() <= static_cast<uint32_t>(thread)) {
    const Thread& next = profile_.threads[group_of_thread_.size()];
    uint32_t group = 0;
    for (auto& [value, known] : thread_steps_) {
      const uint32_t part =
          value.id != nullptr ? value.id(next) : static_cast<uint32_t>(value.name(next));
      group = known.try_emplace(KeyOf(group, part), known.size()).first->second;
    }
    group_of_thread_.push_back(group);
  }
  uint32_t group = group_of_thread_[static_cast<uint32_t>(thread)];
  for (auto& [column, known] : column_steps_) {
    group = known.try_emplace(KeyOf(group, (*column)[row]), known.size()).first->second;
  }
  return group;
}

uint32_t GroupNumbers::Find(profile::ThreadId thread, size_t row) const {
  uint32_t group = group_of_thread_[static_cast<uint32_t>(thread)];
  for (const auto& [column, known] : column_steps_) {
    group = known.at(KeyOf(group, (*column)[row]));
  }
  return group;
}

SampleGroups::SampleGroups(const Profile& profile, profile::EventId event,
                           const HistOptions& options, const HugeVector<uint32_t>* depth_first)
    : numbers_(profile, options) {
  const analysis::RowFilter filter(profile, options.filter);

  HugeVector<uint32_t> group_of(profile.rows.size(), kNone);
  std::vector<size_t> sizes;
  for (uint32_t i = 0; i < profile.rows.size(); ++i) {
    const Row& sample = profile.rows[i];
    // A row of a profile that changes may have lost its samples.
    if (sample.event != event || WeightOf(sample) == Weight()) continue;
    const bool passes = filter.Passes(sample) && options.column_filter.Passes(profile, i) &&
                        IsInSlices(options.slices, profile, i);
    if (passes || !options.relative_percentages) total_ += WeightOf(sample);
    if (!passes) continue;
    const uint32_t group = numbers_.Of(sample.thread, i);
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
  if (!options.children && !options.chains) return;
  PutDepthFirst(profile,
                depth_first != nullptr ? *depth_first : analysis::DepthFirst(profile.stacks));
}

void SampleGroups::PutDepthFirst(const Profile& profile, const HugeVector<uint32_t>& numbers) {
  for (size_t group = 0; group < size(); ++group) {
    analysis::SortDepthFirst(
        profile, numbers,
        std::span(samples_).subspan(first_[group], first_[group + 1] - first_[group]));
  }
}

}  // namespace profiler::report
