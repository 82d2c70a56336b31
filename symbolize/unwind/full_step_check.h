// Checks the caller to which full rules lead (full_step.h).
//
// Private to this package.

#pragma once

#include <optional>

#include "symbolize/unwind/chain_frame.h"
#include "symbolize/unwind/frame_rules.h"
#include "symbolize/unwind/stack_reader.h"

namespace profiler::symbolize {

// Returns true if the rules may belong to code that calls a function on another stack, as OCaml 5
// does. In such code the old stack pointer is in a register, or an expression computes it.
bool MayLeaveStack(const FrameRules& rules, const RegisterNumbers& numbers);

// Returns the reason why `caller`, to which `rules` lead from `frame`, is no caller. Empty if it
// may be one. The caller of a signal frame may be on any stack.
std::optional<ChainEnd> RefuseCaller(const FrameRules& rules, const ChainFrame& frame,
                                     const RegisterSet& caller, const StackReader& stack);

}  // namespace profiler::symbolize
