// FrameRules as an UnwindRule, where they fit.
//
// Private to this package.

#pragma once

#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/frame_rules.h"

namespace profiler::symbolize {

// kFull for rules that need more than the stack and frame pointers, kNone where there is no CFA.
// Registers other than these two are left out: a caller that needs them asks for full rules from
// the start.
UnwindRule PackRule(Architecture architecture, const FrameRules& rules);

}  // namespace profiler::symbolize
