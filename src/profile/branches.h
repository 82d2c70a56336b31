// The branches that threads took, summed up.
//
//   a sample of `perf record -b`     brstack  to ◀─ from   to ◀─ from   …  the latest first
//   adds 1 to a row for each         BranchRow {event, thread, from, to, outcome, cycles} → count
//
// `from` and `to` are the frames of the instructions themselves, not of the next instructions, like
// the frame of a sample's ip.

#pragma once

#include <cstdint>

#include "src/profile/ids.h"

namespace profiler::profile {

// The result of the processor's branch prediction.
enum class BranchOutcome : uint8_t { kPredicted, kMispredicted, kUnknown };

struct BranchRow {
  EventId event{};
  ThreadId thread{};
  FrameId from{}, to{};
  uint16_t cycles = 0;  // processor cycles since the branch before; 0: unknown
  BranchOutcome outcome = BranchOutcome::kUnknown;
  uint64_t count = 0;
};

}  // namespace profiler::profile
