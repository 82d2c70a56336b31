// A segment: a window as an immutable file. An agent sends its segments, and keeps them until the
// spool is full.
//
//   "PROFSEG1"
//   size of the head, u32
//   head        host, labels, times, rate, losses, sums: enough to choose segments by
//   XXH3-64 of all preceding bytes, u64
//   body        tables, packed as a section (src/base/packed_section.h), then the types and
//               build-ids of frames, unless all are unknown; older programs skip them
//   XXH3-64 of the body, u64
//
// Numbers of fixed size are little-endian. The head can be read without the body. A segment that is
// cut off, or has a changed bit, is rejected.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/fleet/segments/window.h"

namespace profiler::fleet {

struct SegmentHead {
  Window window;                   // its tables are empty
  uint64_t rows = 0, samples = 0;  // `samples` is the sum over the rows
};

// Largest size of a head, in bytes. The first kMostStartBytes of a file contain the whole head.
inline constexpr size_t kMostHeadBytes = 60 << 10;
inline constexpr size_t kMostStartBytes = 64 << 10;

// Encodes a window; equal windows yield equal bytes. Thread-safe.
std::string EncodeSegment(const Window& window);

// Decodes the head. `bytes` may end after the head. Errors: kDataLoss, with the reason.
absl::StatusOr<SegmentHead> ReadSegmentHead(std::span<const std::byte> bytes);

// Decodes the whole segment and checks each number, so that callers need no checks of their own.
// Errors: kDataLoss. Needs some dozen times the memory of `bytes`.
absl::StatusOr<Window> DecodeSegment(std::span<const std::byte> bytes);

}  // namespace profiler::fleet
