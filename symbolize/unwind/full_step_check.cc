#include "symbolize/unwind/full_step_check.h"

namespace profiler::symbolize {

bool MayLeaveStack(const FrameRules& rules, const RegisterNumbers& numbers) {
  return rules.cfa.kind == CfaRule::kExpression ||
         (rules.cfa.number != numbers.sp && rules.cfa.number != numbers.fp);
}

std::optional<ChainEnd> RefuseCaller(const FrameRules& rules, const ChainFrame& frame,
                                     const RegisterSet& caller, const StackReader& stack) {
  if (rules.signal_frame) return std::nullopt;
  if (!frame.IsAligned(caller.sp())) return ChainEnd::kBadRegister;
  // A function with its return address in a register may have nothing on the stack.
  const RegisterRule::Kind kind = rules.registers[rules.return_address].kind;
  const bool has_return_slot = kind == RegisterRule::kOffset || kind == RegisterRule::kExpression;
  const bool leaves_stack =
      MayLeaveStack(rules, frame.numbers) &&
      (caller.sp() < stack.start() || caller.sp() - stack.start() > kStackReach);
  const bool goes_back = caller.sp() < frame.sp() && !leaves_stack;
  if (goes_back || (caller.sp() == frame.sp() && has_return_slot)) return ChainEnd::kNoProgress;
  return std::nullopt;
}

}  // namespace profiler::symbolize
