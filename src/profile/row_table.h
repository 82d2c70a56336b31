// Adds samples up into the rows of a profile.
//
// Private to this package.

#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "src/profile/dense_index.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// Not thread-safe. The profile must outlive it and its rows be made here alone. With
// Dimension::kSlice the profile's slices must be set before the first sample.
class RowTable {
 public:
  RowTable(Profile& profile, const DimensionSet& kept) : profile_(profile), kept_(kept) {}

  // Asks for the memory that Add needs; `known` is as there.
  void Prefetch(const SampleRow& sample, uint32_t known) const;

  // Adds count and period of a sample to the row that agrees with it in event, thread, interrupted
  // frame, stack and the dimensions that are kept. `*known` is the row that such a sample was found
  // in before, or UINT32_MAX, and becomes the row that this one is in.
  void Add(const SampleRow& sample, uint32_t* known);

  // Gives each row the thread that `threads` has for its own. Rows that then agree become one, so
  // the rows that Add found before are others now.
  void PutThreads(std::span<const ThreadId> threads);

 private:
  using Values = std::array<uint32_t, kDimensions>;  // 0 where a dimension is not kept

  Values ValuesOf(const SampleRow& sample) const;
  void NoteTime(const SampleRow& sample);
  void Add(const Row& row, const Values& values, uint32_t* known);
  bool IsIn(const Row& row, const Values& values, uint32_t id) const;
  static uint64_t Hash(const Row& row, const Values& values);

  Profile& profile_;
  const DimensionSet kept_;
  DenseIndex index_;
};

}  // namespace profiler::profile
