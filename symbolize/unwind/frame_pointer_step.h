// Steps from a frame without call frame information by its frame pointer:
//
//   fp ▶ │ caller's fp    │
//        │ return address │
//        ├─ caller's sp ──┤  (with a link register here or further out)
//
// The second word must be the address of an instruction. If the code uses the register for other
// purposes, the second word is rarely such an address.
//
// Private to this package.

#pragma once

#include "symbolize/unwind/chain_frame.h"
#include "symbolize/unwind/code_space.h"
#include "symbolize/unwind/stack_reader.h"

namespace profiler::symbolize {

// Returns kCaller, always a guess, or kEnd.
CallerStep FollowFramePointer(const ChainFrame& frame, StackReader& stack, const CodeSpace& space);

}  // namespace profiler::symbolize
