// Converts FrameRules into an UnwindRule if they fit.
//
// Private to this package.

#pragma once

#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/frame_rules.h"

namespace profiler::symbolize {

// Returns kFull for rules that need more than the stack and frame pointers, kNone if there is no
// CFA. Drops other registers: a caller that needs them uses full rules from the start.
UnwindRule PackRule(Architecture architecture, const FrameRules& rules);

}  // namespace profiler::symbolize
