#include "src/record/ring_size.h"

#include <linux/capability.h>

#include <algorithm>
#include <bit>

namespace profiler::record {
namespace {

constexpr size_t kUnlimitedBytes = 4 << 20;
constexpr size_t kMostBytes = 64 << 20;
constexpr size_t kLeastBytes = 16 << 10;
// A ring with stack bytes holds the output of a twentieth of a second.
constexpr uint64_t kBridgedShare = 20;
constexpr int64_t kDefaultMlockKb = 516;
// At most this many samples per second fill rings of 16 MiB with the largest stack copies.
constexpr uint64_t kModerateRate = 5000;

}  // namespace

bool MayLockMemory(const procfs::PerfLimits& limits, uint64_t capabilities) {
  return (capabilities & (1ull << CAP_IPC_LOCK)) != 0 || limits.paranoid.value_or(2) < 0;
}

RingSize DefaultRing(const procfs::PerfLimits& limits, uint64_t capabilities, size_t page_size,
                     uint64_t bytes_per_second) {
  const size_t least = std::max<size_t>(1, std::bit_floor(kLeastBytes / page_size));
  const size_t needed = std::min<uint64_t>(bytes_per_second / kBridgedShare, kMostBytes);
  if (MayLockMemory(limits, capabilities)) {
    const size_t bytes = std::max(kUnlimitedBytes, std::bit_ceil(needed));
    return {std::max<size_t>(1, std::bit_floor(bytes / page_size)), least};
  }
  if (needed > 0) return {std::max(least, std::bit_ceil(needed / page_size)), least};
  // The limit includes the metadata page.
  const int64_t kib = std::max<int64_t>(0, limits.mlock_kb.value_or(kDefaultMlockKb));
  const size_t allowed = std::min<size_t>(static_cast<size_t>(kib) * 1024, kUnlimitedBytes);
  const size_t pages = allowed / page_size;
  return {pages <= least ? least : std::bit_floor(pages - 1), least};
}

uint32_t DefaultStackBytes(const procfs::PerfLimits& limits, uint64_t capabilities,
                           uint64_t samples_per_second) {
  const bool is_cheap = MayLockMemory(limits, capabilities) && samples_per_second <= kModerateRate;
  return is_cheap ? kMostStackBytes : kModestStackBytes;
}

RingSize RequestedRing(size_t bytes, size_t page_size) {
  constexpr size_t kMost = size_t{1} << 40;
  const size_t pages = (std::min(bytes, kMost) + page_size - 1) / page_size;
  return {std::bit_ceil(std::max<size_t>(1, pages)), 0};
}

}  // namespace profiler::record
