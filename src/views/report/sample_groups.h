// Divides samples into groups by all sort keys except functions (comm, thread, cpu, parallelism).
// The samples are those of one event that pass the report's filter.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/profile/profile.h"
#include "src/views/report/function_table.h"
#include "src/views/report/hist_row.h"

namespace profiler::report {

// Numbers the groups, in order of appearance. Refers to the profile, which may grow.
class GroupNumbers {
 public:
  GroupNumbers(const profile::Profile& profile, const HistOptions& options);

  // Returns the number of the group of samples that have this thread, and the columns' values of a
  // row of the profile.
  uint32_t Of(profile::ThreadId thread, size_t row);
  // Returns a number that Of has returned before.
  uint32_t Find(profile::ThreadId thread, size_t row) const;

 private:
  // Subdivisions of groups, keyed by group and value.
  using Known = absl::flat_hash_map<uint64_t, uint32_t>;
  struct ThreadStep {
    ThreadValue value;
    Known known;
  };
  struct ColumnStep {
    const HugeVector<uint32_t>* column = nullptr;
    Known known;
  };

  static uint64_t KeyOf(uint32_t group, uint32_t value) { return uint64_t{group} << 32 | value; }

  const profile::Profile& profile_;
  std::vector<ThreadStep> thread_steps_;
  std::vector<ColumnStep> column_steps_;
  std::vector<uint32_t> group_of_thread_;
};

// The groups of samples. Linear in the profile's rows and
// stacks.
class SampleGroups {
 public:
  // `depth_first`: the depth-first numbers of the profile's stacks (analysis::DepthFirst), if the
  // caller has them.
  SampleGroups(const profile::Profile& profile, profile::EventId event, const HistOptions& options,
               const HugeVector<uint32_t>* depth_first = nullptr);

  size_t size() const { return first_.size() - 1; }
  // Returns a group's samples as indices into profile.rows; may be empty. If the report needs
  // stacks, the samples are in depth-first order of their stacks.
  std::span<const uint32_t> operator[](size_t group) const {
    return std::span(samples_).subspan(first_[group], first_[group + 1] - first_[group]);
  }
  // Returns the group that contains the samples of a row of the report.
  size_t GroupOf(const HistRow& row) const { return numbers_.Find(row.thread, row.sample); }
  // Returns the weight that is 100 %.
  const Weight& total() const { return total_; }

 private:
  void PutDepthFirst(const profile::Profile& profile, const HugeVector<uint32_t>& numbers);

  GroupNumbers numbers_;
  Weight total_;
  HugeVector<uint32_t> samples_;
  // [n]: begin of group n. The last element is the end of the last group.
  std::vector<size_t> first_;
};

}  // namespace profiler::report
