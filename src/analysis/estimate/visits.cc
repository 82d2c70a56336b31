#include "src/analysis/estimate/visits.h"

namespace profiler::estimate {

void Visits::Add(std::span<const uint32_t> keys) {
  ++now_;
  ++samples_;
  const uint64_t age = now_ - first_;  // number of earlier samples in the stream
  for (const uint32_t id : keys) {
    Key& key = keys_[id];
    ++key.count;
    if (key.last != now_ - 1) {
      ++key.begins;
      if (age == 0) ++key.bounds;
    }
    if (key.last != now_ - 2 && key.before_last != now_ - 2) {
      ++key.begins_at_two;
      if (age < 2) ++key.bounds_at_two;
    }
    key.before_last = key.last;
    key.last = now_;
  }
  before_last_.swap(last_);
  last_.assign(keys.begin(), keys.end());
}

void Visits::EndStream() {
  for (const uint32_t id : last_) {
    ++keys_[id].bounds;
    ++keys_[id].bounds_at_two;
  }
  for (const uint32_t id : before_last_) ++keys_[id].bounds_at_two;
  last_.clear();
  before_last_.clear();
  now_ += 2;  // so that no later sample is a neighbour of earlier ones
  first_ = now_ + 1;
}

ShareSamples Visits::operator[](uint32_t id) const {
  const Key& key = keys_[id];
  return {.samples = samples_,
          .count = key.count,
          .changes = 2 * uint64_t{key.begins} - key.bounds,
          .changes_at_two = 2 * uint64_t{key.begins_at_two} - key.bounds_at_two};
}

}  // namespace profiler::estimate
