// Samples on their way into the profile, a few at a time, so that the waits for memory of one
// overlap with those of the others.
//
// Private to this package.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "src/perf_event/records.h"
#include "src/profile/chain_resolver.h"
#include "src/profile/profile.h"

namespace profiler::profile {

struct BatchedSample {
  Row row;  // of count 1; self and stack are not known yet
  uint32_t* known_row = nullptr;
  ChainResolver::Search search;
  std::vector<uint64_t> callchain;  // of `search`; kept for the next sample to save the allocation
};

// Not thread-safe.
class SampleBatch {
 public:
  static constexpr size_t kSize = ChainResolver::kSearches;

  bool full() const { return size_ == kSize; }

  // The next sample, with its call chain copied: the record may be gone before the batch is worked
  // off. A sample without a call chain has one of its ip alone. Not when it is full.
  BatchedSample& Add(uint64_t ip, perf_event::U64Array callchain) {
    BatchedSample& sample = samples_[size_++];
    if (HasEntries(callchain)) {
      sample.callchain.resize(callchain.size());
      std::memcpy(sample.callchain.data(), callchain.bytes().data(), callchain.size() * 8);
    } else {
      sample.callchain.assign(1, ip);
    }
    return sample;
  }

  std::span<BatchedSample> samples() { return std::span(samples_).first(size_); }
  void Clear() { size_ = 0; }

 private:
  std::array<BatchedSample, kSize> samples_;
  size_t size_ = 0;
};

}  // namespace profiler::profile
