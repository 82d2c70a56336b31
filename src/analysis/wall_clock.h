// Joins all times of threads into one event, if the recording has them (record --wall-clock):
//
//   oncpu-time      ─┐
//   offcpu-time     ─┼─▶ wall-clock
//   preempted-time  ─┘
//
// The periods of all three are nanoseconds, so their sums are comparable.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/profile/profile.h"

namespace profiler::analysis {

// How the joined event distinguishes times off the CPU.
enum class OffCpuLeaf : uint8_t {
  kNone,     // not at all: they count for the waiting functions, as a table needs
  kOfState,  // by a leaf "[blocked]" or "[preempted]" on their stacks, of a kNoCode image
};

// True if the recording has an event oncpu-time and one of times off the CPU.
bool HasWallClock(const profile::Profile& profile);

// Joins the rows of these events into one event, called wall-clock, in place of oncpu-time. The
// events of times off the CPU stay, but without rows. Does nothing if HasWallClock is false.
// `profile` must have names. Linear in the rows.
void JoinWallClock(OffCpuLeaf leaf, profile::Profile& profile);

// Returns the plan for a view of one event, whose user asked for `event`: OffCpuLeaf::kOfState for ""
// and for "wall-clock". Otherwise nothing, and the event has its own rows.
std::optional<OffCpuLeaf> WallClockFor(std::string_view event);

}  // namespace profiler::analysis
