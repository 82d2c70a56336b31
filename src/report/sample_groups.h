// The samples of one event that pass a report's filter, in groups: of those that its sort keys tell
// apart by something else than functions (comm, thread, cpu, parallelism).
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/profile/profile.h"
#include "src/report/functions.h"
#include "src/report/hist_row.h"

namespace profiler::report {

// By thread: a number that is equal where the sort keys cannot tell threads apart.
std::vector<uint32_t> ThreadGroups(const profile::Profile& profile, const HistOptions& options);

// Parts such groups further by the columns of a profile's rows that the sort keys name. Refers to
// the profile.
class FinerGroups {
 public:
  FinerGroups(const profile::Profile& profile, const HistOptions& options);

  // The part of `group` that a row of the profile is in.
  uint32_t Of(uint32_t group, size_t row);

 private:
  struct Step {
    const HugeVector<uint32_t>* column = nullptr;
    absl::flat_hash_map<uint64_t, uint32_t> known;  // by group and value
  };
  std::vector<Step> steps_;
};

// The references are used by the constructor alone. Linear in the profile's rows and stacks.
class SampleGroups {
 public:
  SampleGroups(const profile::Profile& profile, profile::EventId event, const HistOptions& options);

  size_t size() const { return first_.size() - 1; }
  // Indexes into profile.rows; where stacks matter, their stacks are depth first. May be empty.
  std::span<const uint32_t> operator[](size_t group) const {
    return std::span(samples_).subspan(first_[group], first_[group + 1] - first_[group]);
  }
  // What 100 % is.
  const Weight& total() const { return total_; }

 private:
  void PutDepthFirst(const profile::Profile& profile);

  Weight total_;
  HugeVector<uint32_t> samples_;
  std::vector<size_t> first_;  // by group, and one more
};

}  // namespace profiler::report
