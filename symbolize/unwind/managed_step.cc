#include "symbolize/unwind/managed_step.h"

namespace profiler::symbolize {

CheckedManagedStep StepByMachine(ManagedCode* machine, const ChainFrame& frame,
                                 StackReader& stack) {
  const bool is_in_image = frame.code.cfi != nullptr;
  if (machine == nullptr || (is_in_image && !machine->HasCodeInImages())) return {};
  const bool was_late = stack.is_late();
  // The frames of machines also have numbers and addresses of objects.
  stack.RequireExactWords(true);
  const ManagedStep step =
      machine->StepFrom({frame.registers, frame.is_return_address, is_in_image}, stack);
  stack.RequireExactWords(false);
  switch (step.kind) {
    case ManagedStep::Kind::kFrameless:
    case ManagedStep::Kind::kUnknown:
      stack.SetLate(was_late);
      return {.is_frameless = step.kind == ManagedStep::Kind::kFrameless};
    case ManagedStep::Kind::kUnreadable:
      return {CallerStep::Unreadable()};
    case ManagedStep::Kind::kLost:
      return {CallerStep::End(ChainEnd::kNoCfi)};
    case ManagedStep::Kind::kCaller:
      break;
  }
  if (!frame.IsAligned(step.sp)) return {CallerStep::End(ChainEnd::kBadRegister)};
  if (step.sp <= frame.sp()) return {CallerStep::End(ChainEnd::kNoProgress)};
  CheckedManagedStep checked{CallerStep::Guess(step.pc, step.sp, step.fp), false, step.listed,
                             step.frame_end};
  if (!step.is_guessed) checked.caller.origin = FrameOrigin::kCfi;
  // Unknown registers read as 0, so any other value comes from the stack.
  checked.caller.finds_frame = step.fp != 0;
  return checked;
}

}  // namespace profiler::symbolize
