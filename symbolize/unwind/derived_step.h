// Steps from a frame without call frame information by a rule that is derived from the function's
// instructions (derived_rules.h).
//
// Private to this package.

#pragma once

#include <optional>

#include "src/base/address.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/chain_frame.h"
#include "symbolize/unwind/code_space.h"
#include "symbolize/unwind/stack_reader.h"

namespace profiler::symbolize {

struct DerivedStep {
  UnwindRule rule;  // kThreadStart, or a rule for StepByRule
  // kCfi if the caller calls this function, which proves the step. Else kGuess.
  FrameOrigin origin = FrameOrigin::kGuess;
};

// Finds the rule of the frame, whose instruction is at `address`. Empty if there is none, or if it
// leads to an implausible caller, because the rule may come from a path that never runs.
std::optional<DerivedStep> FindDerivedStep(const ChainFrame& frame, ElfAddress address,
                                           const StackReader& stack, const CodeSpace& space);

}  // namespace profiler::symbolize
