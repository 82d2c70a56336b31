// Limits the number of inlined calls in a stack.
//
//   frames      main ── run ── loop          the stack's frames: one address each
//   functions   main ── run ── step ── add ── loop ── …
//                               inlined at the address in run
//
// A frame of an ordinary program has a few inlined calls, seldom fifty. A forged recording may have
// hundreds of them at each of hundreds of addresses. Then a few kilobytes would become stacks of
// tens of thousands of functions, and a view that prints each function's callers would print their
// square.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/profile/profile.h"

namespace profiler::profile {

inline constexpr uint32_t kInlinedCallsPerFrame = 4;
// Allowed in any stack, even with few frames: about as many as the 127 frames of a report's
// --max-stack may have, and as many as one frame can have.
inline constexpr uint32_t kInlinedCallsOfAnyStack = 512;

// Returns the limit for a stack of this many frames. It only grows with the frames, so stacks that
// share callers are cut at the same frame.
constexpr uint64_t MostInlinedCalls(uint64_t frames) {
  const uint64_t most = frames * kInlinedCallsPerFrame;
  return most < kInlinedCallsOfAnyStack ? kInlinedCallsOfAnyStack : most;
}

inline uint32_t InlinedCallsAt(const Frame& frame) {
  return frame.line_count == 0 ? 0 : frame.line_count - 1;
}

// Returns the warning that inlined calls are left out. `chains` names the stacks: "call chains that
// have".
std::string InlinedCallsAreLeftOut(std::string_view chains);

// Removes the inlined calls of frames that would bring a stack above MostInlinedCalls of the frames
// from the root to there. Such a frame keeps only its own function. `profile` must have names. A
// row's `self` keeps all its functions. A warning of the profile says how many stacks were changed.
// Linear in frames, and also in stacks if a frame has more inlined calls than
// kInlinedCallsPerFrame.
void BoundInlinedCalls(Profile& profile);

}  // namespace profiler::profile
