#include "symbolize/go/stack_switches.h"

#include <cstdint>
#include <optional>

#include "symbolize/go/switching_call.h"
#include "symbolize/unwind/call_evidence.h"

namespace profiler::symbolize {
namespace {

// Largest frame in words that is searched for the return address.
constexpr uint64_t kMostWords = 1024;

// The step from one frame.
class GoStep {
 public:
  GoStep(const SwitchingFrame& from, StackReader& stack, const CodeSpace& space)
      : frame_(from.frame),
        at_(from.at),
        leaves_out_c_(from.leaves_out_c),
        stack_(stack),
        space_(space) {}

  CallerStep Find();

 private:
  std::optional<CallerStep> StepOverC(uint64_t frame_end);
  bool LeadsToFrame(uint64_t return_address, uint64_t sp, uint64_t fp);
  static CallerStep Caller(uint64_t pc, uint64_t sp, uint64_t fp) {
    return {.kind = CallerStep::Kind::kCaller, .pc = pc, .sp = sp, .fp = fp};
  }

  const ChainFrame& frame_;
  const StackSwitch& at_;
  const bool leaves_out_c_;
  StackReader& stack_;
  const CodeSpace& space_;
};

CallerStep GoStep::Find() {
  const uint64_t sp = frame_.sp();
  if (!frame_.is_return_address) {
    // The function was interrupted. Most likely it had not switched the stack yet, or had already
    // switched it back.
    const uint64_t slot = sp + at_.frame_size;
    uint64_t address = 0;
    if (!stack_.ReadStackWord(slot, &address)) return CallerStep::Unreadable();
    if (IsReturnAddress(space_, address)) {
      return Caller(address, slot + frame_.word, frame_.fp());
    }
    const auto step = StepOverC(slot);
    return step ? *step : CallerStep::End(ChainEnd::kStackSwitch);
  }
  const uint64_t fp = frame_.fp();
  if (at_.frame_size != 0 && leaves_out_c_) {
    if (const auto step = StepOverC(sp + at_.frame_size)) return *step;
  }
  if (fp == 0 || !frame_.IsAligned(fp)) return CallerStep::End(ChainEnd::kStackSwitch);
  if (at_.frame_size != 0) {
    uint64_t address = 0, caller_fp = 0;
    if (!stack_.ReadStackWord(fp, &caller_fp) ||
        !stack_.ReadStackWord(fp + frame_.word, &address)) {
      return CallerStep::End(ChainEnd::kStackSwitch);
    }
    if (!IsReturnAddress(space_, address)) return CallerStep::End(ChainEnd::kStackSwitch);
    return Caller(address, fp + 2 * frame_.word, caller_fp);
  }
  const RuntimeAddress function{at_.function.value + frame_.code.bias};
  for (uint64_t words = 1; words <= kMostWords; ++words) {
    const uint64_t slot = fp - words * frame_.word;
    uint64_t address = 0;
    if (!stack_.ReadStackWord(slot, &address)) break;
    if (frame_.code.Holds({address - 1}) && FollowsCallOf(space_.memory(), function, {address}) &&
        LeadsToFrame(address, slot + frame_.word, fp)) {
      return Caller(address, slot + frame_.word, fp);
    }
  }
  return CallerStep::End(ChainEnd::kStackSwitch);
}

// Steps from a Go function that C has called. The function's frame on the goroutine's stack ends at
// `frame_end`. Empty if C has not called the function. Stack words from lower to higher addresses:
//
//   older Go versions        the frame │ address in the runtime │ return address of the caller of C
//   newer, for example 1.24  the frame │ address in the runtime │ saved frame pointer │ return …
std::optional<CallerStep> GoStep::StepOverC(uint64_t frame_end) {
  uint64_t place = 0, address = 0;
  if (!stack_.ReadStackWord(frame_end, &place) ||
      !stack_.ReadStackWord(frame_end + frame_.word, &address)) {
    return std::nullopt;
  }
  if (!frame_.code.Holds({address - 1})) {
    frame_end += frame_.word;
    if (!stack_.ReadStackWord(frame_end + frame_.word, &address)) return std::nullopt;
  }
  if (!frame_.code.Holds({place}) || !frame_.code.Holds({address - 1})) return std::nullopt;
  const std::optional<RuntimeAddress> called = CalledBefore(space_.memory(), {address});
  if (!called || !frame_.code.Holds(*called) ||
      !frame_.code.cfi->StackSwitchAt({called->value - frame_.code.bias})) {
    return std::nullopt;
  }
  const uint64_t sp = frame_end + 2 * frame_.word;
  const UnwindRule rule = frame_.code.cfi->Find({address - 1 - frame_.code.bias});
  const bool has_frame = rule.kind == UnwindRule::kFromStackPointer && rule.frame_slot != 0;
  const uint64_t fp =
      has_frame ? frame_.SlotAddress(Displaced(sp, rule.cfa_offset), rule.frame_slot) : frame_.fp();
  return CallerStep::Guess(address, sp, fp);
}

// Returns true if `fp` points to the frame of the function that contains the call in front of
// `return_address`. `sp` is the stack pointer of this function. It may make the call to enlarge its
// stack, when it has no frame yet. Then `fp` points to the frame of its caller. Therefore two
// functions are tried: this function and its caller.
bool GoStep::LeadsToFrame(uint64_t return_address, uint64_t sp, uint64_t fp) {
  for (int callers = 0; callers < 2; ++callers) {
    MappedCode code;
    const RuntimeAddress call{return_address - 1};
    if (!space_.Find(call, &code) || code.cfi == nullptr) return false;
    const UnwindRule rule = code.cfi->Find({call.value - code.bias});
    if (rule.kind != UnwindRule::kFromStackPointer || rule.cfa_offset <= 0) return false;
    const uint64_t cfa = Displaced(sp, rule.cfa_offset);
    if (rule.frame_slot != 0) return frame_.SlotAddress(cfa, rule.frame_slot) == fp;
    if (!stack_.ReadStackWord(frame_.SlotAddress(cfa, rule.return_slot), &return_address))
      return false;
    sp = cfa;
  }
  return false;
}

class GoStackSwitchSteps final : public StackSwitches {
 public:
  CallerStep StepFrom(const SwitchingFrame& from, StackReader& stack,
                      const CodeSpace& space) const override {
    return GoStep(from, stack, space).Find();
  }
};

}  // namespace

const StackSwitches* GoStackSwitches() {
  static const GoStackSwitchSteps steps;
  return &steps;
}

}  // namespace profiler::symbolize
