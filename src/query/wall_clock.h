// All the time of the threads as one event, where the recording has all of it (record
// --wall-clock):
//
//   oncpu-time      ─┐
//   offcpu-time     ─┼─▶ wall-clock
//   preempted-time  ─┘
//
// The periods of all three are nanoseconds, so their sums can be compared.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/base/status.h"
#include "src/profile/profile.h"

namespace profiler::query {

// How the times off the CPU are told from the others in the joined event.
enum class OffCpuLeaf : uint8_t {
  kNone,     // by where the threads wait alone, which is what a table of functions is about
  kOfState,  // their stacks have one frame more, "[blocked]" or "[preempted]", of a DSO of kind
             // kNoCode
};

// True where the recording has an event oncpu-time and one of times off the CPU.
bool HasWallClock(const profile::Profile& profile);

// Makes the rows of those events rows of one, called wall-clock, in the place of oncpu-time; the
// others stay, without rows. Does nothing where HasWallClock is false. `profile` has been named.
// Linear in the rows.
void JoinWallClock(OffCpuLeaf leaf, profile::Profile& profile);

// What ChooseEvent says, for a view of one event that shows all times as one: joined, with their
// states as leaves, where no event is named or "wall-clock" is.
absl::StatusOr<std::optional<profile::EventId>> ChooseEventOrWallClock(std::string_view name,
                                                                       profile::Profile& profile);

}  // namespace profiler::query
