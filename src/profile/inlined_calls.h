// Limits the number of inlined calls in a stack.
//
//   frames      main ── run ── loop          the stack's frames: one address each
//   functions   main ── run ── step ── add ── loop ── …
//                               inlined at the address in run
//
// A frame of an ordinary program has a few inlined calls, seldom fifty. A forged recording may have
// hundreds of inlined calls at each of hundreds of addresses. Then a few kilobytes would become
// stacks of tens of thousands of functions. A view that prints all callers of each function would
// print the square of that number.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/profile/profile.h"

namespace profiler::profile {

inline constexpr uint32_t kInlinedCallsPerFrame = 4;
// Number of inlined calls allowed in any stack, even with few frames. That is about the limit for
// 127 frames (a report's --max-stack), and the most that one frame can have.
inline constexpr uint32_t kInlinedCallsOfAnyStack = 512;

// Returns the limit for a stack of this many frames. More frames never lower the limit, so stacks
// that share callers lose the inlined calls of the same frames.
constexpr uint64_t MostInlinedCalls(uint64_t frames) {
  const uint64_t most = frames * kInlinedCallsPerFrame;
  return most < kInlinedCallsOfAnyStack ? kInlinedCallsOfAnyStack : most;
}

inline uint32_t InlinedCallsAt(const Frame& frame) {
  return frame.line_count == 0 ? 0 : frame.line_count - 1;
}

// Returns the warning that inlined calls are left out. `chains` is the text that names the stacks,
// such as "call chains that have".
std::string InlinedCallsAreLeftOut(std::string_view chains);

// Walks each stack from the root, and removes the inlined calls of each frame with which the stack
// would exceed MostInlinedCalls(number of frames up to this one). Such a frame keeps only its own
// function. `profile` must have names. A row's `self` keeps all its functions. A warning of the
// profile says how many stacks were changed. Linear in frames, and also in stacks if a frame has
// more inlined calls than kInlinedCallsPerFrame.
void BoundInlinedCalls(Profile& profile);

}  // namespace profiler::profile
