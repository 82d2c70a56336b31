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

// Returns a number for each thread, equal if the sort keys do not distinguish the threads.
std::vector<uint32_t> ThreadGroups(const profile::Profile& profile, const HistOptions& options);

// Subdivides groups of threads by the columns of the profile's rows that the sort keys name. Refers
// to the profile.
class FinerGroups {
 public:
  FinerGroups(const profile::Profile& profile, const HistOptions& options);

  // Returns the subdivision of `group` that contains a row of the profile.
  uint32_t Of(uint32_t group, size_t row);

 private:
  struct Step {
    const HugeVector<uint32_t>* column = nullptr;
    absl::flat_hash_map<uint64_t, uint32_t> known;  // subdivision, keyed by group and value
  };
  std::vector<Step> steps_;
};

// The groups of samples. Only the constructor uses the references. Linear in the profile's rows and
// stacks.
class SampleGroups {
 public:
  SampleGroups(const profile::Profile& profile, profile::EventId event, const HistOptions& options);

  size_t size() const { return first_.size() - 1; }
  // Returns a group's samples as indices into profile.rows; may be empty. If the report needs
  // stacks, the samples are in depth-first order of their stacks.
  std::span<const uint32_t> operator[](size_t group) const {
    return std::span(samples_).subspan(first_[group], first_[group + 1] - first_[group]);
  }
  // Returns the weight that is 100 %.
  const Weight& total() const { return total_; }

 private:
  void PutDepthFirst(const profile::Profile& profile);

  Weight total_;
  HugeVector<uint32_t> samples_;
  // [n]: begin of group n. The last element is the end of the last group.
  std::vector<size_t> first_;
};

}  // namespace profiler::report
