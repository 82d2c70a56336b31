// Buckets: the functions that the sort keys of a report do not distinguish share one.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "src/base/huge_vector.h"
#include "src/profile/profile.h"
#include "src/views/report/function_table.h"
#include "src/views/report/hist_row.h"

namespace profiler::report {

// The buckets of a table of functions. Refers to all constructor arguments. Reading is thread-safe.
class FunctionBuckets {
 public:
  FunctionBuckets(const profile::Profile& profile, const FunctionTable& functions,
                  const HistOptions& options);

  // Assigns buckets to the functions that the table has got since. Without positions only.
  void Grow();

  // False if each function is a bucket of its own.
  bool any() const { return kind_ != Kind::kEach; }
  uint32_t Of(FunctionId function) const { return any() ? buckets_[function] : function; }
  // Returns a number that is larger than each bucket.
  uint32_t end() const { return any() ? end_ : functions_.size(); }

 private:
  enum class Kind : uint8_t { kEach, kOne, kSymbols, kImages, kPositions };

  static Kind KindOf(const FunctionTable& functions, const HistOptions& options);
  void AddPositions(const HistOptions& options);
  uint32_t BucketOf(FunctionId id);

  const profile::Profile& profile_;
  const FunctionTable& functions_;
  const Kind kind_;
  HugeVector<uint32_t> buckets_;  // indexed by function; empty for kEach
  uint32_t end_ = 0;
  // For kSymbols: equal names in all images share a bucket, and so do equal unnamed addresses.
  absl::flat_hash_map<uint64_t, uint32_t> unnamed_;
  absl::flat_hash_map<std::tuple<StringId, profile::Mode, bool>, uint32_t> named_;
};

}  // namespace profiler::report
