#include "symbolize/unwind/derived_step.h"

#include "symbolize/unwind/call_evidence.h"
#include "symbolize/unwind/rule_step.h"
#include "symbolize/unwind/stack_start.h"

namespace profiler::symbolize {

std::optional<DerivedStep> FindDerivedStep(const ChainFrame& frame, ElfAddress address,
                                           const StackReader& stack, const CodeSpace& space) {
  if (!frame.has_table()) return std::nullopt;
  const DerivedRule derived = frame.code.cfi->Derive(address);
  const UnwindRule& rule = derived.rule;
  DerivedStep step{rule, FrameOrigin::kGuess};
  if (rule.kind == UnwindRule::kNone) return std::nullopt;
  if (rule.kind == UnwindRule::kThreadStart) {
    // The frame pointer being 0 is no proof, because assembly code may use it for other purposes.
    const bool is_start =
        HasLinkRegister(frame.architecture()) || StopsAhead(space, RuntimeAddress{frame.pc()});
    return is_start ? std::optional(step) : std::nullopt;
  }
  const bool by_sp = rule.kind == UnwindRule::kFromStackPointer;
  if (!by_sp && !frame.knows_frame) return std::nullopt;
  uint64_t cfa = Displaced(by_sp ? frame.sp() : frame.fp(), rule.cfa_offset);
  if (by_sp && !frame.knows_stack && !FindRecord(rule, frame, &cfa)) return std::nullopt;
  const bool is_realigned = rule.kind == UnwindRule::kRealigned;
  if (is_realigned && !stack.ReadCopiedWord(cfa, &cfa)) return std::nullopt;
  if (rule.return_slot == 0 && !frame.knows_link) return std::nullopt;
  uint64_t return_address = frame.registers.Get(frame.numbers.return_address);
  const bool is_copied =
      rule.return_slot == 0 ||
      stack.ReadCopiedWord(frame.SlotAddress(cfa, rule.return_slot), &return_address);
  if (!is_copied) return step;
  if (!IsReturnAddress(space, return_address)) return std::nullopt;
  const RuntimeAddress function{derived.function.value + frame.code.bias};
  if (derived.is_reached && CallsFunction(space, return_address, function)) {
    step.origin = FrameOrigin::kCfi;
  }
  return step;
}

}  // namespace profiler::symbolize
