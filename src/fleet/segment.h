// A window as an immutable file: what an agent keeps until there is no room, and sends.
//
//   "PROFSEG1"
//   size of the head, u32
//   head        host, labels, times, rate, losses, sums: enough to choose segments by
//   XXH3-64 of all before, u64
//   body        tables, packed as a section (src/base/packed_section.h); behind them types and
//               build-ids of frames, unless none is known. Older programs pass these over
//   XXH3-64 of the body, u64
//
// Numbers of fixed size are little-endian. A head can be read without the body. Whatever was cut,
// or has a bit changed, is refused.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/fleet/window.h"

namespace profiler::fleet {

struct SegmentHead {
  Window window;                   // without its tables
  uint64_t rows = 0, samples = 0;  // the sum of its rows' samples
};

// Heads are no larger, and so much of a file has all of its head.
inline constexpr size_t kMostHeadBytes = 60 << 10;
inline constexpr size_t kMostStartBytes = 64 << 10;

// Deterministic: equal windows are equal bytes. Thread-safe.
std::string EncodeSegment(const Window& window);

// Errors: kDataLoss, which says what is wrong. `bytes` may end behind the head.
absl::StatusOr<SegmentHead> ReadSegmentHead(std::span<const std::byte> bytes);

// The whole of it. Each number is checked: the window can be walked without further thought.
// Errors: kDataLoss. Memory: some dozen times the bytes.
absl::StatusOr<Window> DecodeSegment(std::span<const std::byte> bytes);

}  // namespace profiler::fleet
