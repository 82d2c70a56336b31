// Adds samples up into the rows of a profile.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <span>

#include "src/profile/dense_index.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// Not thread-safe. The profile must outlive it and its rows be made here alone.
class RowTable {
 public:
  RowTable(Profile& profile, bool keep_cpu) : profile_(profile), keep_cpu_(keep_cpu) {}

  // Has the memory for Add brought near; `known` as there.
  void Prefetch(const SampleRow& row, uint32_t known) const;

  // Adds count and period to the row that agrees in all else but time, and CPU unless that is kept.
  // `*known` is the row that it was found in before, if any, or UINT32_MAX; becomes the one that it
  // is in.
  void Add(const SampleRow& row, uint32_t* known);

  // Gives each row the thread that `threads` has for its own. Rows that then agree become one, so
  // where Add found them before does not hold any more.
  void PutThreads(std::span<const ThreadId> threads);

 private:
  bool IsIn(const SampleRow& a, uint32_t row) const {
    const Row& b = profile_.rows[row];
    return a.stack == b.stack && a.thread == b.thread && a.self == b.self && a.event == b.event &&
           (!keep_cpu_ || a.cpu == profile_.cpus[row]);
  }
  uint64_t Hash(const SampleRow& row) const;

  Profile& profile_;
  const bool keep_cpu_;
  DenseIndex index_;
};

}  // namespace profiler::profile
