// Sums up samples into the rows of a profile.
//
// Private to this package.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/profile/dense_index.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// The rows of a profile. Not thread-safe. The profile must outlive the table, and only the table
// may add rows to it. With Dimension::kSlice the profile's slices must be set before the first
// sample.
class RowTable {
 public:
  RowTable(Profile& profile, const DimensionSet& kept) : profile_(profile), kept_(kept) {}

  // Adds the count and period of each sample to the row with the same event, thread, interrupted
  // frame, stack and kept dimensions. `*hints[i]` is a hint for sample i: the row in which such a
  // sample was counted before, or UINT32_MAX. Add stores the sample's row there. Returns the row of
  // each sample, valid until the next call. Samples with a common hint may be in different rows.
  std::span<const uint32_t> Add(std::span<const SampleRow> samples,
                                std::span<uint32_t* const> hints);

  // Replaces the thread of each row by `threads[thread]`. Rows that are then equal are merged, so
  // row numbers returned by Add become invalid. Call it last.
  void PutThreads(std::span<const ThreadId> threads);

 private:
  using Values = std::array<uint32_t, kDimensionsOfSamples>;  // 0 for dimensions that are not kept

  Values ValuesOf(const SampleRow& sample);
  void Prefetch(const Row& row, const Values& values, uint32_t known) const;
  void Add(const Row& row, const Values& values, uint32_t* known);
  bool IsIn(const Row& row, const Values& values, uint32_t id) const;
  uint64_t Hash(const Row& row, const Values& values) const;
  uint32_t QuantumOf(uint64_t time);

  Profile& profile_;
  const DimensionSet kept_;
  DenseIndex index_;
  absl::flat_hash_map<uint64_t, uint32_t> quanta_;  // keyed by begin: index in Profile::quanta
  std::vector<Values> values_;   // values of the present samples; kept to save the allocation
  std::vector<uint32_t> found_;  // rows of the present samples
};

}  // namespace profiler::profile
