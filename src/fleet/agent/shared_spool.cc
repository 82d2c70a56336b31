#include "src/fleet/agent/shared_spool.h"

namespace profiler::agent {
namespace {

// Largest number of names in delivered_. Beyond this the first names are dropped; their segments
// were removed long ago.
constexpr size_t kMostNames = 100'000;

}  // namespace

absl::Status SharedSpool::Add(const fleet::Window& window) {
  const std::lock_guard lock(mutex_);
  return spool_.Add(window);
}

void SharedSpool::Delivered(const fleet::SegmentFile& file) {
  const std::lock_guard lock(mutex_);
  if (delivered_.size() >= kMostNames) delivered_.erase(delivered_.begin());
  if (++delivered_[file.name] < destinations_) return;
  delivered_.erase(file.name);
  spool_.MayGo(file);
}

absl::Status SharedSpool::Refused(const fleet::SegmentFile& file) {
  if (destinations_ > 1) {
    Delivered(file);
    return absl::OkStatus();
  }
  const std::lock_guard lock(mutex_);
  return spool_.SetAside(file);
}

void SharedSpool::Describe(AgentMetrics& metrics) const {
  const std::lock_guard lock(mutex_);
  metrics.segments = spool_.size();
  metrics.spool_bytes = spool_.bytes();
  metrics.dropped_segments = spool_.dropped().segments;
  metrics.dropped_samples = spool_.dropped().samples;
}

}  // namespace profiler::agent
