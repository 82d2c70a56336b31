// Adds samples up into the rows of a profile.
//
// Private to this package.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/profile/chain_resolver.h"
#include "src/profile/dense_index.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// Not thread-safe. The profile must outlive it and its rows be made here alone. With
// Dimension::kSlice the profile's slices must be set before the first sample.
class RowTable {
 public:
  RowTable(Profile& profile, const DimensionSet& kept) : profile_(profile), kept_(kept) {}

  // Adds count and period of each sample to the row that agrees with it in event, thread,
  // interrupted frame, stack and the dimensions that are kept. `resolved` has for each sample where
  // the row that such a sample was found in before is noted, or UINT32_MAX; the row that this one
  // is in is noted there. By sample: its row, until the next call; samples that share a note need
  // not share a row.
  std::span<const uint32_t> Add(std::span<const SampleRow> samples,
                                std::span<const ResolvedStack> resolved);

  // Gives each row the thread that `threads` has for its own. Rows that then agree become one, so
  // the rows that Add found before are others now.
  void PutThreads(std::span<const ThreadId> threads);

 private:
  using Values = std::array<uint32_t, kDimensionsOfSamples>;  // 0 where a dimension is not kept

  Values ValuesOf(const SampleRow& sample);
  void Prefetch(const Row& row, const Values& values, uint32_t known) const;
  void Add(const Row& row, const Values& values, uint32_t* known);
  bool IsIn(const Row& row, const Values& values, uint32_t id) const;
  uint64_t Hash(const Row& row, const Values& values) const;
  uint32_t QuantumOf(uint64_t time);

  Profile& profile_;
  const DimensionSet kept_;
  DenseIndex index_;
  absl::flat_hash_map<uint64_t, uint32_t> quanta_;  // by begin
  std::vector<Values> values_;   // of the samples at hand; kept to save its allocation
  std::vector<uint32_t> found_;  // by sample at hand
};

}  // namespace profiler::profile
