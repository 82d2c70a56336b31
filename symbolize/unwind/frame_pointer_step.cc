#include "symbolize/unwind/frame_pointer_step.h"

#include "symbolize/unwind/stack_start.h"

namespace profiler::symbolize {

CallerStep FollowFramePointer(const ChainFrame& frame, StackReader& stack, const CodeSpace& space) {
  const ChainEnd unknown = frame.in_code ? ChainEnd::kNoCfi : ChainEnd::kNoImage;
  const uint64_t fp = frame.fp();
  if (!frame.knows_frame) {
    return CallerStep::End(frame.in_code ? ChainEnd::kBadRegister : unknown);
  }
  if (fp == 0 && frame.in_code && frame.is_return_address &&
      StopsAhead(space, RuntimeAddress{frame.pc()})) {
    return CallerStep::End(ChainEnd::kThreadStart);
  }
  if (!frame.IsAligned(fp) || fp < frame.sp()) return CallerStep::End(unknown);
  uint64_t caller_fp = 0;
  uint64_t return_address = 0;
  if (!stack.ReadStackWord(fp, &caller_fp) ||
      !stack.ReadStackWord(fp + frame.word, &return_address)) {
    const bool is_beyond = fp - frame.sp() < kStackReach && frame.SlotAddress(fp, 2) > stack.end();
    return CallerStep::End(is_beyond ? ChainEnd::kStackTooShort : unknown);
  }
  const uint64_t stripped = space.WithoutSignature(return_address);
  MappedCode code;
  if (stripped != 0 && !space.Find(RuntimeAddress{stripped - 1}, &code)) {
    return CallerStep::End(unknown);
  }
  CallerStep step = CallerStep::Guess(stripped, frame.SlotAddress(fp, 2), caller_fp);
  step.knows_stack = !HasLinkRegister(frame.architecture());
  return step;
}

}  // namespace profiler::symbolize
