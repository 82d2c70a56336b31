// Adds samples up into the rows of a profile.
//
// Private to this package.

#pragma once

#include <cstdint>

#include "src/profile/dense_index.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// Not thread-safe. The profile must outlive it and its rows be made here alone.
class RowTable {
 public:
  explicit RowTable(Profile& profile) : profile_(profile) {}

  // Has the memory for Add brought near; `known` as there.
  void Prefetch(const Row& row, uint32_t known) const;

  // Adds count and period to the row that agrees in all else but time, which is 0. `*known` is the
  // row that it was found in before, if any, or UINT32_MAX; becomes the one that it is in.
  void Add(const Row& row, uint32_t* known);

 private:
  static bool Agree(const Row& a, const Row& b) {
    return a.stack == b.stack && a.thread == b.thread && a.self == b.self && a.event == b.event &&
           a.cpu == b.cpu;
  }
  static uint64_t Hash(const Row& row);

  Profile& profile_;
  DenseIndex index_;
};

}  // namespace profiler::profile
