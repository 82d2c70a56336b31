// How many inlined calls a stack of a profile may have.
//
//   frames      main ── run ── loop          what the stack is made of: one address each
//   functions   main ── run ── step ── add ── loop ── …
//                               inlined at the address in run
//
// A frame of an ordinary program has a handful of inlined calls, seldom fifty. A recording that
// somebody made up may have hundreds of them at each of hundreds of addresses: then a few kilobytes
// would be stacks of tens of thousands of functions, and a view that shows each function's callers
// would print their square.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/profile/profile.h"

namespace profiler::profile {

inline constexpr uint32_t kInlinedCallsPerFrame = 4;
// However few frames a stack has. It is about what the 127 frames of a report's --max-stack may
// have, and as much as one frame can have.
inline constexpr uint32_t kInlinedCallsOfAnyStack = 512;

// What a stack of so many frames may have. It only grows with the frames, so that stacks which
// share their callers are cut in the same place.
constexpr uint64_t MostInlinedCalls(uint64_t frames) {
  const uint64_t most = frames * kInlinedCallsPerFrame;
  return most < kInlinedCallsOfAnyStack ? kInlinedCallsOfAnyStack : most;
}

inline uint32_t InlinedCallsAt(const Frame& frame) {
  return frame.line_count == 0 ? 0 : frame.line_count - 1;
}

// The warning that inlined calls are left out, of `chains`: "call chains that have".
std::string InlinedCallsAreLeftOut(std::string_view chains);

// Leaves out the inlined calls of those frames that would bring a stack of `profile`, which has its
// names, above MostInlinedCalls of the frames from the root to there: what is left of such a frame
// is the function that has its code, which stays in the stack. A row's `self` has all its
// functions. A warning of the profile says how many stacks it changed. Linear in frames, and where
// a frame has more inlined calls than kInlinedCallsPerFrame, in stacks.
void BoundInlinedCalls(Profile& profile);

}  // namespace profiler::profile
