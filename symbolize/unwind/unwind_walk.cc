#include "symbolize/unwind/unwind_walk.h"

#include <optional>

#include "symbolize/unwind/call_evidence.h"
#include "symbolize/unwind/exception_handover.h"
#include "symbolize/unwind/frame_pointer_step.h"
#include "symbolize/unwind/full_step_check.h"
#include "symbolize/unwind/recovered_frame_pointer.h"
#include "symbolize/unwind/return_path_step.h"
#include "symbolize/unwind/rule_step.h"
#include "symbolize/unwind/stack_start.h"

namespace profiler::symbolize {
namespace {

// Limit on expression steps in one chain. Expressions from compilers and assemblers need 10 or 20
// steps per frame.
constexpr uint32_t kExpressionSteps = 1 << 14;

}  // namespace

UnwindWalk::UnwindWalk(UnwindCaches caches, const StackSwitches* switches, UnwindSpace& space,
                       StackBytes stack, const UnwindLimits& limits, uint64_t number,
                       const RegisterSet& registers, bool pc_is_return_address, UnwoundChain& chain)
    : known_(caches.steps),
      switches_(switches),
      limits_(limits),
      leaf_registers_(registers),
      pc_is_return_address_(pc_is_return_address),
      chain_(chain),
      space_(space, registers.architecture()),
      stack_(stack, space, WordSize(registers.architecture())),
      rule_finder_(caches.rules, space_),
      full_rules_(number),
      expression_steps_(kExpressionSteps) {
  frame_.numbers = NumbersOf(registers.architecture());
  frame_.word = WordSize(registers.architecture());
}

void UnwindWalk::Run() {
  for (const bool all_registers : {false, true}) {
    Start(all_registers);
    Next next = Next::kGoOn;
    while (next == Next::kGoOn) next = Step();
    if (next == Next::kEnd) break;
  }
  if (!chain_.whole() && (LeaveByInstructions() || GoOnWhereCaught())) {
    while (Step() == Next::kGoOn) {
    }
  }
  known_.Finish();
  if (!frame_.is_complete) KeepOnlyFollowed();
  chain_.registers = frame_.registers;
  chain_.end_image = frame_.in_code ? frame_.code.image : 0;
}

void UnwindWalk::Start(bool all_registers) {
  all_registers_ = all_registers;
  recovered_ = false;
  frame_.registers = leaf_registers_;
  frame_.registers.Set(frame_.numbers.pc, space_.Stripped(leaf_registers_.pc()));
  frame_.is_complete = true;
  frame_.knows_link = !pc_is_return_address_;
  frame_.knows_stack = true;
  frame_.knows_frame = leaf_registers_.Knows(frame_.numbers.fp);
  frame_.is_leaf = true;
  known_.Start(all_registers || !frame_.knows_frame ? 0 : space_.memory().Identity(), frame_.sp());
  stack_.StartPrefetch(frame_.sp());
  chain_.frames.clear();
  chain_.guessed = chain_.late_read = 0;
  Push(FrameOrigin::kRegisters, pc_is_return_address_);
}

// Repeats steps of the last chain from the last frame on, as long as they match.
template <class Word>
void UnwindWalk::RepeatSteps() {
  uint64_t pc = frame_.pc(), sp = frame_.sp(), fp = frame_.fp();
  const size_t before = chain_.frames.size();
  while (const KnownStep* const step = known_.Find(pc, sp, fp)) {
    uint64_t caller_pc = 0, caller_fp = fp;
    const bool leads_on =
        chain_.frames.size() < limits_.max_frames &&
        stack_.ReadCopied<Word>(step->return_slot, &caller_pc) && space_.Stripped(caller_pc) != 0 &&
        (step->frame_slot == 0 || stack_.ReadCopied<Word>(step->frame_slot, &caller_fp));
    if (!leads_on) break;
    pc = space_.Stripped(caller_pc);
    sp = step->caller_sp, fp = caller_fp;
    known_.Repeat();
    stack_.Prefetch(sp);
    chain_.frames.push_back({RuntimeAddress{pc}, sp, FrameOrigin::kCfi, true, false});
  }
  if (chain_.frames.size() != before) SetFollowed(pc, sp, fp);
}

UnwindWalk::Next UnwindWalk::Step() {
  if (frame_.is_return_address) {
    frame_.word == sizeof(uint64_t) ? RepeatSteps<uint64_t>() : RepeatSteps<uint32_t>();
  }
  const uint64_t pc = frame_.pc();
  const bool was_return_address = frame_.is_return_address;
  const RuntimeAddress instruction{pc - (was_return_address ? 1 : 0)};
  if (!frame_.in_code || !frame_.code.Holds(instruction)) {
    frame_.in_code = space_.Find(instruction, &frame_.code);
  }
  if (!frame_.in_code && frame_.is_return_address && chain_.frames.size() > 1) {
    return StripLongSignature() ? Next::kGoOn : DropStrayFrame();
  }
  UnwindRule rule;
  ElfAddress address;
  if (frame_.has_table()) {
    address = {instruction.value - frame_.code.bias};
    rule = FindRule(address);
    address.value += was_return_address && !frame_.is_return_address ? 1 : 0;
  }
  if (frame_.is_interrupted()) {
    if (IsNewThread(space_, frame_)) return End(ChainEnd::kThreadStart);
    if (rule.kind == UnwindRule::kNone && frame_.has_table() && FollowsSystemCall(space_, pc)) {
      address.value -= 1;
      rule = FindRule(address);
    }
    if (frame_.architecture()->describes_by_stack_pointer &&
        rule.kind == UnwindRule::kFromStackPointer) {
      rule = MendInterruptedRule(rule, RuntimeAddress{pc}, frame_.code, address, space_);
    }
  }
  if (rule.not_called != 0 && !MayGoOnHere(rule)) [[unlikely]]
    return DropStrayFrame();
  // A signal handler returns to the first instruction of code that calls nothing.
  if (rule.signal_frame != 0) chain_.frames.back().is_return_address = false;
  switch (rule.kind) {
    case UnwindRule::kNone:
      return StepWithoutRule(address);
    case UnwindRule::kThreadStart:
      return End(ChainEnd::kThreadStart);
    case UnwindRule::kTooLong:
      return End(ChainEnd::kTooLongCfi);
    default:
      if (rule.kind == UnwindRule::kFromFramePointer && !frame_.knows_frame &&
          !LearnFramePointer(rule, address)) [[unlikely]] {
        return End(ChainEnd::kBadRegister);
      }
      if (rule.kind == UnwindRule::kFull || (all_registers_ && frame_.knows_stack)) {
        return StepByFullRules(rule, address);
      }
      return StepByRule(rule);
  }
}

UnwindRule UnwindWalk::FindRule(ElfAddress address) {
  const UnwindRule rule = rule_finder_.Find(frame_.code, address, frame_.is_return_address);
  if (rule.not_called != 0) [[unlikely]] {
    frame_.is_return_address = chain_.frames.back().is_return_address = false;
  }
  return rule;
}

// Adds the step to the known steps if its result depends only on the frame and on the mappings.
UnwindWalk::Next UnwindWalk::StepByRule(const UnwindRule& rule) {
  const RuleStep step = symbolize::StepByRule(rule, frame_, stack_);
  const bool may_repeat = frame_.is_return_address && !stack_.is_late() && step.return_slot != 0 &&
                          rule.signal_frame == 0 && rule.kind != UnwindRule::kRealigned;
  const uint64_t pc = frame_.pc(), sp = frame_.sp(), fp = frame_.fp();
  const bool leads_on = step.caller.kind == CallerStep::Kind::kCaller;
  const Next next = leads_on ? GoTo(step.caller) : Take(step.caller);
  if (may_repeat && next == Next::kGoOn) {
    known_.Add({.pc = pc,
                .sp = sp,
                .fp = fp,
                .return_slot = step.return_slot,
                .frame_slot = step.frame_slot,
                .caller_sp = step.caller.sp});
  }
  return next;
}

// Steps by all rules at `address`, if there are more rules than `rule`.
UnwindWalk::Next UnwindWalk::StepByFullRules(const UnwindRule& rule, ElfAddress address) {
  switch (full_rules_.Find(*frame_.code.cfi, address)) {
    case CfiTable::Told::kTooLong:
      return End(ChainEnd::kTooLongCfi);
    case CfiTable::Told::kNothing:
      return rule.kind == UnwindRule::kFull ? StepWithoutRule(address) : StepByRule(rule);
    case CfiTable::Told::kRules:
      break;
  }
  const FrameRules& rules = full_rules_.rules();
  if (!frame_.is_complete) KeepOnlyFollowed();
  RegisterSet caller = frame_.registers;
  if (!frame_.knows_stack) caller.Forget(frame_.numbers.sp);
  const Stepped stepped =
      StepByRules(rules, !frame_.is_return_address, stack_, &expression_steps_, &caller);
  if (stepped == Stepped::kMalformed) return StepWithoutRule(address);
  if (stepped == Stepped::kUnreadable && MayLeaveStack(rules, frame_.numbers)) {
    switched_stack_ = true;
  }
  if (stepped == Stepped::kCaller) {
    if (const auto end = RefuseCaller(rules, frame_, caller, stack_)) return End(*end);
  }
  return Arrive(stepped, caller, !rules.signal_frame);
}

// Steps from code without information about its frames.
UnwindWalk::Next UnwindWalk::StepWithoutRule(ElfAddress address) {
  // Ends the chain if the file has changed, although the frame pointer could lead on to guesses.
  if (frame_.has_table() && frame_.code.cfi->is_outdated()) return End(ChainEnd::kFileChanged);
  if (frame_.has_table()) {
    if (const auto stack_switch = frame_.code.cfi->StackSwitchAt(address)) {
      switched_stack_ = true;
      if (switches_ == nullptr) return End(ChainEnd::kStackSwitch);
      return Take(
          switches_->StepFrom({frame_, *stack_switch, limits_.leaves_out_c}, stack_, space_));
    }
  }
  if (!frame_.is_complete) KeepOnlyFollowed();
  bool is_frameless = false;
  if (frame_.in_code) {
    const CheckedManagedStep managed = StepByMachine(space_.memory().Managed(), frame_, stack_);
    if (managed.caller.kind != CallerStep::Kind::kNone) return TakeManaged(managed);
    is_frameless = managed.is_frameless;
    RegisterSet caller = frame_.registers;
    const Stepped stepped = StepOverSignalReturn(stack_, &caller);
    if (stepped != Stepped::kMalformed) {
      chain_.frames.back().is_return_address = false;
      return Arrive(stepped, caller, false);
    }
  }
  if (frame_.has_table() && IsInEntryPoint(space_, frame_.code, address)) {
    return End(ChainEnd::kThreadStart);
  }
  stack_.SetLate(false);
  if (!limits_.frame_pointers) {
    return End(frame_.in_code ? ChainEnd::kNoCfi : ChainEnd::kNoImage);
  }
  if (const auto step = FindDerivedStep(frame_, address, stack_, space_)) {
    return StepByDerivedRule(*step);
  }
  if (frame_.in_code && frame_.is_return_address && !MayFollowCall(space_, frame_.pc()) &&
      StopsAhead(space_, RuntimeAddress{frame_.pc()})) {
    return End(ChainEnd::kThreadStart);
  }
  std::optional<ReturnPath> path;
  if (frame_.in_code && (frame_.is_interrupted() || frame_.is_return_address)) {
    path = FindReturnPath(frame_, stack_, space_);
  }
  CallerStep step;
  if (path) {
    step = ReturnBy(*path, frame_, stack_, space_);
  } else if (is_frameless) {
    step = CallerStep::End(ChainEnd::kNoCfi);
  } else {
    step = FollowFramePointer(frame_, stack_, space_);
    const bool is_lost = step.kind == CallerStep::Kind::kEnd && step.end == ChainEnd::kNoCfi;
    if (is_lost && frame_.is_interrupted() && frame_.has_table()) {
      path = SearchReturnAddress(frame_, stack_, space_);
      if (path) step = ReturnBy(*path, frame_, stack_, space_);
    }
  }
  if (step.kind == CallerStep::Kind::kCaller) KeepOnlyFollowed();
  return Take(step);
}

// Goes to the caller that the tables of a virtual machine show.
UnwindWalk::Next UnwindWalk::TakeManaged(const CheckedManagedStep& step) {
  if (step.caller.kind != CallerStep::Kind::kCaller) return Take(step.caller);
  // Ends the chain here, before the frame's address is replaced. A continuation of this chain needs
  // the address.
  if (chain_.frames.size() >= limits_.max_frames) return End(ChainEnd::kTooDeep);
  if (step.listed.value != 0) {
    chain_.frames.back().address = step.listed;
    chain_.frames.back().is_return_address = false;
  }
  KeepOnlyFollowed();
  const Next next = Take(step.caller);
  if (next == Next::kGoOn) chain_.frames.back().stack_pointer = step.frame_end;
  return next;
}

// Does not add the step to the known steps. In the next chain, the same slot may have another
// return address, which must be checked again.
UnwindWalk::Next UnwindWalk::StepByDerivedRule(const DerivedStep& step) {
  if (step.rule.kind == UnwindRule::kThreadStart) return End(ChainEnd::kThreadStart);
  CallerStep caller = symbolize::StepByRule(step.rule, frame_, stack_).caller;
  caller.origin = step.origin;
  return Take(caller);
}

bool UnwindWalk::LearnFramePointer(const UnwindRule& rule, ElfAddress address) {
  const auto fp = RecoverFramePointer(rule, frame_, address, stack_, space_);
  if (!fp) return false;
  frame_.registers.Set(frame_.numbers.fp, *fp);
  frame_.knows_frame = recovered_ = true;
  return true;
}

// Removes a signature from the last frame's address if there is no code at the address.
bool UnwindWalk::StripLongSignature() {
  const uint64_t pc = space_.WithoutSignature(frame_.pc());
  if (pc == frame_.pc()) return false;
  frame_.registers.Set(frame_.numbers.pc, pc);
  chain_.frames.back().address = RuntimeAddress{pc};
  return true;
}

// Drops the last frame, because its address follows no call and so is no return address. The stack
// further out cannot be unwound from this frame. The chain is whole if the frame before it belongs
// to the program's first function, after which the kernel put the program's arguments.
UnwindWalk::Next UnwindWalk::DropStrayFrame() {
  KeepFrames(chain_.frames.size() - 1);
  const RuntimeAddress instruction = chain_.frames.back().instruction();
  frame_.in_code = space_.Find(instruction, &frame_.code);
  const bool is_first = frame_.in_code && IsInFirstFunction(space_, frame_.code, instruction);
  return End(is_first ? ChainEnd::kThreadStart : ChainEnd::kBadReturnAddress);
}

// Returns true if the last frame, whose address follows no call, may continue there: in the return
// from a signal, in the first function of a stack, or at the code that catches an exception. Go's
// runtime interrupts functions as if they had called it (runtime.asyncPreempt, runtime.sigpanic).
bool UnwindWalk::MayGoOnHere(const UnwindRule& rule) {
  const size_t count = chain_.frames.size();
  return rule.signal_frame != 0 || rule.kind == UnwindRule::kThreadStart || count < 2 ||
         frame_.code.cfi->has_go_functions() ||
         HandsOver(chain_.frames[count - 2].instruction(), full_rules_, space_);
}

// Continues a walk that ended at the interrupted function, with a rule derived from the function's
// instructions. Hand-written call frame information may be wrong. For example, the information
// about glibc's memcpy for i386 ignores a push (sysdeps/i386/i686/memcpy.S, 2.36).
bool UnwindWalk::LeaveByInstructions() {
  const bool is_lost =
      (chain_.end == ChainEnd::kBadReturnAddress || chain_.end == ChainEnd::kNoReturnAddress) &&
      chain_.frames.size() == 1;
  if (!is_lost || pc_is_return_address_ || !limits_.frame_pointers) return false;
  Start(/*all_registers=*/false);
  const RuntimeAddress pc{frame_.pc()};
  frame_.in_code = space_.Find(pc, &frame_.code);
  const auto step = FindDerivedStep(frame_, {pc.value - frame_.code.bias}, stack_, space_);
  return step && step->rule.kind != UnwindRule::kThreadStart &&
         StepByDerivedRule(*step) == Next::kGoOn;
}

// Continues a lost walk that met an exception being handed over.
bool UnwindWalk::GoOnWhereCaught() {
  if (!limits_.frame_pointers) return false;
  const auto caught = FindCatchingFrame(chain_, frame_.word, full_rules_, stack_, space_);
  if (!caught) return false;
  KeepFrames(caught->kept);
  known_.Start(0, 0);  // the failed walk must not be reused
  frame_.in_code = false;
  KeepOnlyFollowed();
  return Take(caught->caller) == Next::kGoOn;
}

UnwindWalk::Next UnwindWalk::Take(const CallerStep& step) {
  switch (step.kind) {
    case CallerStep::Kind::kCaller:
      return GoTo(step);
    case CallerStep::Kind::kUnreadable:
      return End(stack_.EndOfUnreadable(switched_stack_));
    case CallerStep::Kind::kEnd:
    case CallerStep::Kind::kNone:
      break;
  }
  return End(step.end);
}

// Goes to a caller of which only pc, sp and fp are known.
inline UnwindWalk::Next UnwindWalk::GoTo(const CallerStep& step) {
  const uint64_t pc = space_.Stripped(step.pc);
  if (pc == 0) [[unlikely]]
    return EndAtZero(step.sp);
  if (chain_.frames.size() >= limits_.max_frames) return End(ChainEnd::kTooDeep);
  frame_.knows_frame = frame_.knows_frame || step.finds_frame;
  SetFollowed(pc, step.sp, step.fp);
  frame_.knows_stack = step.knows_stack;
  Push(step.origin, step.is_return_address);
  return Next::kGoOn;
}

// Finishes a step that followed all registers.
UnwindWalk::Next UnwindWalk::Arrive(Stepped stepped, const RegisterSet& caller,
                                    bool is_return_address) {
  switch (stepped) {
    case Stepped::kThreadStart:
      return End(ChainEnd::kThreadStart);
    case Stepped::kUnknownRegister:
      if (!frame_.is_complete && !all_registers_) return Next::kFollowAllRegisters;
      return End(ChainEnd::kBadRegister);
    case Stepped::kUnreadable:
      return End(stack_.EndOfUnreadable(switched_stack_));
    case Stepped::kMalformed:
      return End(ChainEnd::kNoCfi);
    case Stepped::kTooLong:
      return End(ChainEnd::kTooLongCfi);
    case Stepped::kCaller:
      break;
  }
  const uint64_t pc = space_.Stripped(caller.pc());
  if (pc == 0) return is_return_address ? EndAtZero(caller.sp()) : End(ChainEnd::kNoReturnAddress);
  if (chain_.frames.size() >= limits_.max_frames) return End(ChainEnd::kTooDeep);
  frame_.registers = caller;
  frame_.registers.Set(frame_.numbers.pc, pc);
  frame_.is_complete = true;
  frame_.knows_link = frame_.registers.Knows(frame_.numbers.return_address) && !is_return_address;
  frame_.knows_stack = true;
  frame_.knows_frame = frame_.registers.Knows(frame_.numbers.fp);
  frame_.is_leaf = false;
  switched_stack_ = switched_stack_ || !is_return_address;
  Push(FrameOrigin::kCfi, is_return_address);
  return Next::kGoOn;
}

inline void UnwindWalk::SetFollowed(uint64_t pc, uint64_t sp, uint64_t fp) {
  frame_.registers.Set(frame_.numbers.pc, pc);
  frame_.registers.Set(frame_.numbers.sp, sp);
  frame_.registers.Set(frame_.numbers.fp, fp);
  if (!frame_.knows_frame) [[unlikely]]
    frame_.registers.Forget(frame_.numbers.fp);
  frame_.is_complete = false;
  frame_.knows_link = false;
  frame_.knows_stack = true;
  frame_.is_leaf = false;
}

inline void UnwindWalk::Push(FrameOrigin origin, bool is_return_address) {
  frame_.is_return_address = is_return_address;
  if (recovered_) [[unlikely]] {
    origin = FrameOrigin::kGuess;
    recovered_ = false;
  }
  const bool is_late = stack_.is_late();
  chain_.frames.push_back(
      {RuntimeAddress{frame_.pc()}, frame_.sp(), origin, is_return_address, is_late});
  chain_.guessed += origin == FrameOrigin::kGuess ? 1 : 0;
  chain_.late_read += is_late ? 1 : 0;
  stack_.SetLate(false);
}

void UnwindWalk::KeepFrames(size_t count) {
  for (size_t i = count; i < chain_.frames.size(); ++i) {
    chain_.guessed -= chain_.frames[i].origin == FrameOrigin::kGuess ? 1 : 0;
    chain_.late_read -= chain_.frames[i].late_read ? 1 : 0;
  }
  chain_.frames.resize(count);
  stack_.SetLate(false);
}

// Ends the chain at a return address of 0. Code that makes a stack may put 0 at the stack's end.
// But a word that was wrongly taken for a return address may also be 0. So the function, or the
// position of the word, must show that the stack begins there. `caller_sp` is the address after the
// word.
UnwindWalk::Next UnwindWalk::EndAtZero(uint64_t caller_sp) {
  const bool is_start = stack_.EndsBehind(caller_sp) ||
                        (frame_.in_code && IsInFirstFunction(space_, frame_.code,
                                                             chain_.frames.back().instruction()));
  return End(is_start ? ChainEnd::kThreadStart : ChainEnd::kNoReturnAddress);
}

}  // namespace profiler::symbolize
