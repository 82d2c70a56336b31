// Taken branches, added up.
//
//   a sample of `perf record -b`         brstack  to ◀─ from   to ◀─ from   …  the latest first
//   becomes a count in a row for each    BranchRow {event, thread, from, to, outcome, cycles} →
//   count
//
// A frame of a branch is the instruction itself, not one behind it: FrameId as of a sample's ip.

#pragma once

#include <cstdint>

#include "src/profile/ids.h"

namespace profiler::profile {

// What the processor had expected.
enum class BranchOutcome : uint8_t { kPredicted, kMispredicted, kUnknown };

struct BranchRow {
  EventId event{};
  ThreadId thread{};
  FrameId from{}, to{};
  uint16_t cycles = 0;  // since the branch before; 0: unknown
  BranchOutcome outcome = BranchOutcome::kUnknown;
  uint64_t count = 0;
};

}  // namespace profiler::profile
