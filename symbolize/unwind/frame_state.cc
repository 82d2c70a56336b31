#include "symbolize/unwind/frame_state.h"

#include <cstdlib>

namespace profiler::symbolize {

UnwindRule UnwindRuleOf(const FrameState& state, Architecture architecture) {
  const auto word = static_cast<int32_t>(WordSize(architecture));
  if (state.fp == FrameState::kOutermost) return {.kind = UnwindRule::kThreadStart};
  // Limits of UnwindRule's fields.
  constexpr int32_t kMostReturnSlots = 1 << 12, kMostSlots = 1 << 13;
  if ((state.saved_return == 0 && !state.keeps_link) || state.saved_return % word != 0 ||
      state.saved_return / word >= kMostReturnSlots) {
    return {};
  }
  UnwindRule rule{.kind = UnwindRule::kFromStackPointer, .return_slot = -state.saved_return / word};
  if (state.is_aligned) {
    const int32_t above_fp = state.fp_depth - state.saved_fp;
    const bool is_known =
        state.fp == FrameState::kOfFrame && state.saved_fp != 0 && state.saved_cfa != 0;
    if (!is_known || above_fp % word != 0 || std::abs(above_fp / word) >= kMostSlots) return {};
    rule.kind = UnwindRule::kRealigned;
    rule.frame_slot = above_fp / word;
    rule.cfa_offset = state.fp_depth - state.saved_cfa;
    return rule;
  }
  // Uses the frame pointer if there is one, as compilers do in call frame information.
  if (state.fp == FrameState::kOfFrame && (!state.depth || state.fp_depth == state.saved_fp)) {
    rule.kind = UnwindRule::kFromFramePointer;
    rule.cfa_offset = state.fp_depth;
  } else if (state.depth && *state.depth >= state.saved_return) {
    rule.cfa_offset = *state.depth;
  } else {
    return {};
  }
  if (state.fp == FrameState::kOfCaller) return rule;
  if (state.saved_fp % word != 0 || state.saved_fp / word >= kMostSlots) return {};
  rule.frame_slot = -state.saved_fp / word;
  return rule;
}

}  // namespace profiler::symbolize
