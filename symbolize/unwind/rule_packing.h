// Converts FrameRules into an UnwindRule, if an UnwindRule can express them.
//
// Private to this package.

#pragma once

#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/frame_rules.h"

namespace profiler::symbolize {

// Returns kFull if finding the caller needs more than the stack and frame pointers, and kNone if
// there is no CFA. Drops the rules of other registers: a walk that needs them uses full rules from
// the leaf on.
UnwindRule PackRule(Architecture architecture, const FrameRules& rules);

}  // namespace profiler::symbolize
