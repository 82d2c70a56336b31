#include "symbolize/unwind/unwind_walk.h"

#include <cstring>
#include <optional>

#include "symbolize/unwind/stack_depth.h"
#include "symbolize/unwind/switching_call.h"

namespace profiler::symbolize {

void UnwindWalk::Run(const RegisterSet& registers, bool pc_is_return_address) {
  for (const bool all_registers : {false, true}) {
    Start(registers, pc_is_return_address, all_registers);
    Next next = Next::kGoOn;
    while (next == Next::kGoOn) next = Step();
    if (next == Next::kEnd) break;
  }
  if (LeaveByInstructions(registers, pc_is_return_address) || FindCatchingFrame()) {
    while (Step() == Next::kGoOn) {
    }
  }
  known_.Finish();
  if (!complete_) registers_.KeepOnly(FollowedRegisters());
  chain_.registers = registers_;
  chain_.end_image = in_code_ ? code_.image : 0;
}

void UnwindWalk::Start(const RegisterSet& registers, bool pc_is_return_address,
                       bool all_registers) {
  registers_ = registers;
  numbers_ = NumbersOf(registers.architecture());
  word_ = WordSize(registers.architecture());
  pc_mask_ = AddressMask(registers.architecture());
  all_registers_ = all_registers;
  complete_ = true;
  registers_.Set(numbers_.pc, Stripped(registers.pc()));
  knows_link_ = !pc_is_return_address;
  knows_stack_ = true;
  knows_frame_ = registers.Knows(numbers_.fp);
  recovered_ = false;
  known_.Start(all_registers || !knows_frame_ ? 0 : space_.Identity(), registers.sp());
  prefetched_ = registers.sp() - stack_.start;
  Prefetch(registers.sp());
  chain_.frames.clear();
  chain_.guessed = chain_.late_read = 0;
  Push(FrameOrigin::kRegisters, pc_is_return_address);
}

// Repeats steps of the last chain from the last frame on, as long as they match.
template <class Word>
void UnwindWalk::RepeatSteps() {
  uint64_t pc = registers_.pc(), sp = registers_.sp(), fp = registers_.fp();
  const size_t before = chain_.frames.size();
  while (const KnownStep* const step = known_.Find(pc, sp, fp)) {
    uint64_t caller_pc = 0, caller_fp = fp;
    const bool leads_on = chain_.frames.size() < limits_.max_frames &&
                          ReadCopied<Word>(step->return_slot, &caller_pc) &&
                          Stripped(caller_pc) != 0 &&
                          (step->frame_slot == 0 || ReadCopied<Word>(step->frame_slot, &caller_fp));
    if (!leads_on) break;
    pc = Stripped(caller_pc);
    sp = step->caller_sp, fp = caller_fp;
    known_.Repeat();
    Prefetch(sp);
    chain_.frames.push_back({RuntimeAddress{pc}, sp, FrameOrigin::kCfi, true, false});
  }
  if (chain_.frames.size() != before) SetFollowed(pc, sp, fp);
}

UnwindWalk::Next UnwindWalk::Step() {
  if (is_return_address_) {
    word_ == sizeof(uint64_t) ? RepeatSteps<uint64_t>() : RepeatSteps<uint32_t>();
  }
  const uint64_t pc = chain_.frames.back().address.value;
  const bool was_return_address = is_return_address_;
  const RuntimeAddress instruction{pc - (was_return_address ? 1 : 0)};
  if (!in_code_ || !code_.Holds(instruction)) in_code_ = FindCode(instruction, &code_);
  if (!in_code_ && is_return_address_ && chain_.frames.size() > 1) {
    return StripLongSignature() ? Next::kGoOn : DropStrayFrame();
  }
  UnwindRule rule;
  ElfAddress address;
  if (in_code_ && code_.cfi != nullptr) {
    address = {instruction.value - code_.bias};
    rule = FindRule(address);
    address.value += was_return_address && !is_return_address_ ? 1 : 0;
  }
  if (rule.kind == UnwindRule::kNone && chain_.frames.size() == 1 && !is_return_address_ &&
      in_code_ && code_.cfi != nullptr && IsBehindSystemCall(pc)) {
    address.value -= 1;
    rule = FindRule(address);
  }
  if (chain_.frames.size() == 1 && !is_return_address_ &&
      registers_.architecture()->describes_by_stack_pointer &&
      rule.kind == UnwindRule::kFromStackPointer) {
    rule = MendInterruptedRule(address, rule);
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
      if (rule.kind == UnwindRule::kFromFramePointer && !knows_frame_ &&
          !RecoverFramePointer(rule, address)) [[unlikely]] {
        return End(ChainEnd::kBadRegister);
      }
      const bool is_full = rule.kind == UnwindRule::kFull || (all_registers_ && knows_stack_);
      const CfiTable::Told told =
          is_full ? FullRules(*code_.cfi, address) : CfiTable::Told::kNothing;
      if (told == CfiTable::Told::kRules) return StepByFullRules(address);
      if (told == CfiTable::Told::kTooLong) return End(ChainEnd::kTooLongCfi);
      if (rule.kind == UnwindRule::kFull) return StepWithoutRule(address);
      return StepByRule(rule);
  }
}

// Computes an unknown frame pointer from the function's instructions.
bool UnwindWalk::RecoverFramePointer(const UnwindRule& rule, ElfAddress address) {
  const auto function = code_.cfi->FunctionAt(address);
  if (!function || function->size > kMostCodeForDepth || !knows_stack_) return false;
  std::vector<std::byte> code(function->size);
  if (!space_.ReadCode(RuntimeAddress{function->start.value + code_.bias}, code)) return false;
  const ElfAddress at{registers_.pc() - code_.bias};
  const auto depth = StackDepthAt(*code_.cfi, *function, code, at, is_return_address_);
  if (!depth) return false;
  const uint64_t cfa = registers_.sp() + *depth;
  uint64_t return_address = 0;
  if (!ReadStackWord(SlotAddress(cfa, rule.return_slot), &return_address) ||
      !IsReturnAddress(return_address)) {
    return false;
  }
  registers_.Set(numbers_.fp, Displaced(cfa, -rule.cfa_offset));
  knows_frame_ = recovered_ = true;
  return true;
}

// Stores the result in rules_.
CfiTable::Told UnwindWalk::FullRules(CfiTable& table, ElfAddress address) {
  table.StartChain(number_);
  return table.FullRules(address, &rules_);
}

// Removes a signature from the last frame's address if there is no code at the address.
bool UnwindWalk::StripLongSignature() {
  const uint64_t pc = WithoutSignature(registers_.pc());
  if (pc == registers_.pc()) return false;
  registers_.Set(numbers_.pc, pc);
  chain_.frames.back().address = RuntimeAddress{pc};
  return true;
}

// Removes a signature. Stripped assumes addresses of the usual length. Kernels may use fewer bits,
// and then signatures are longer. So if there is no code at an address, fewer bits are tried.
uint64_t UnwindWalk::WithoutSignature(uint64_t address) {
  const uint64_t stripped = Stripped(address);
  MappedCode code;
  for (const uint8_t bits : registers_.architecture()->address_widths) {
    const uint64_t shorter = stripped & ((uint64_t{1} << bits) - 1);
    if (shorter != 0 && FindCode(RuntimeAddress{shorter - 1}, &code)) return shorter;
  }
  return stripped;
}

// Drops the last frame, because its address follows no call and so is no return address. The stack
// further out cannot be unwound from this frame. The chain is whole if the frame before it belongs
// to the program's first function, after which the kernel put the program's arguments.
UnwindWalk::Next UnwindWalk::DropStrayFrame() {
  KeepFrames(chain_.frames.size() - 1);
  in_code_ = FindCode(chain_.frames.back().instruction(), &code_);
  return End(IsInFirstFunction() ? ChainEnd::kThreadStart : ChainEnd::kBadReturnAddress);
}

// Returns the rule of the last frame, whose instruction is at `address`.
UnwindRule UnwindWalk::FindRule(ElfAddress address) {
  const auto key = RuleCache::KeyOf(code_.cfi->id(), address, is_return_address_);
  if (!key) [[unlikely]]
    return Reconsidered(LookUpRule(address));
  if (const UnwindRule* const rule = cache_.Find(*key)) [[likely]] {
    return Reconsidered(*rule);
  }
  const UnwindRule rule = LookUpRule(address);
  cache_.Add(*key, rule);
  return Reconsidered(rule);
}

UnwindRule UnwindWalk::LookUpRule(ElfAddress address) {
  UnwindRule rule = code_.cfi->Find(address);
  if (is_return_address_) ReconsiderReturnAddress({address.value + 1}, &rule);
  return rule;
}

UnwindRule UnwindWalk::Reconsidered(UnwindRule rule) {
  if (rule.not_called != 0) [[unlikely]] {
    is_return_address_ = chain_.frames.back().is_return_address = false;
  }
  return rule;
}

// Replaces the rule of a return address that follows no call. There are two such cases. In the
// first case, code that throws an exception "returns" to the code that catches it; the code before
// the return address is unrelated. In the second case, a program made the stack itself, for example
// for makecontext. Such a stack begins with the address of a function that never returns. The
// stack's first function returns to it.
void UnwindWalk::ReconsiderReturnAddress(ElfAddress target, UnwindRule* rule) {
  const UnwindRule at_target = code_.cfi->Find(target);
  if (at_target.kind == UnwindRule::kNone || MayFollowCall(chain_.frames.back().address.value)) {
    return;
  }
  // Go's runtime puts return addresses that follow no call on the stack, for runtime.goexit and for
  // interrupted functions. In Go programs, nothing changes if both rules are equal.
  if (at_target == *rule && code_.cfi->has_go_functions()) return;
  *rule = at_target;
  if (at_target.signal_frame == 0 && IsStartOfStack(target)) {
    *rule = {.kind = UnwindRule::kThreadStart};
  }
  rule->not_called = 1;
}

// Returns true if the last frame, whose address follows no call, may continue there: in the return
// from a signal, in the first function of a stack, or at the code that catches an exception. Go's
// runtime interrupts functions as if they had called it (runtime.asyncPreempt, runtime.sigpanic).
bool UnwindWalk::MayGoOnHere(const UnwindRule& rule) {
  const size_t count = chain_.frames.size();
  return rule.signal_frame != 0 || rule.kind == UnwindRule::kThreadStart || count < 2 ||
         code_.cfi->has_go_functions() || HandsOver(chain_.frames[count - 2].instruction());
}

// Computes the CFA of a frame that was found only by its frame pointer, with a link register. The frame pointer
// points to the saved frame pointer and return address, which may be anywhere in the frame.
bool UnwindWalk::FindRecord(const UnwindRule& rule, uint64_t* cfa) const {
  if (rule.frame_slot == 0 || rule.return_slot != rule.frame_slot + 1) return false;
  *cfa = SlotAddress(registers_.fp(), -rule.frame_slot);
  return true;
}

// Does not cache a step by a derived rule. In the next chain, the same slot may have another return
// address, which must be checked again.
UnwindWalk::Next UnwindWalk::StepByRule(UnwindRule rule, FrameOrigin origin, bool is_derived) {
  const uint64_t sp = registers_.sp();
  const uint64_t fp = registers_.fp();
  uint64_t cfa = 0;
  int32_t return_slot = rule.return_slot;
  uint64_t saved_fp = 0;  // address of the slot with the caller's frame pointer
  switch (rule.kind) {
    case UnwindRule::kFromStackPointer:
      cfa = Displaced(sp, rule.cfa_offset);
      if (!knows_stack_ && !FindRecord(rule, &cfa)) return End(ChainEnd::kBadRegister);
      saved_fp = SlotAddress(cfa, rule.frame_slot);
      break;
    case UnwindRule::kFromFramePointer:
      cfa = Displaced(fp, rule.cfa_offset);
      saved_fp = SlotAddress(cfa, rule.frame_slot);
      break;
    case UnwindRule::kLinkageTable: {
      const bool has_pushed =
          (registers_.pc() & 15) >= static_cast<uint64_t>(int64_t{rule.return_slot});
      cfa = Displaced(sp, rule.cfa_offset) + (has_pushed ? word_ : 0);
      return_slot = -1;
      break;
    }
    default:  // kRealigned
      if (!knows_frame_) return End(ChainEnd::kBadRegister);
      if (!ReadStackWord(Displaced(fp, rule.cfa_offset), &cfa)) return EndUnreadable();
      saved_fp = SlotAddress(fp, rule.frame_slot);
      break;
  }
  // In an interrupted epilogue, slots below the stack pointer have been popped (StepByRules).
  const bool has_saved_fp = (rule.frame_slot != 0 || rule.kind == UnwindRule::kRealigned) &&
                            (saved_fp >= sp || is_return_address_);
  uint64_t caller_fp = fp;
  if (has_saved_fp && !ReadStackWord(saved_fp, &caller_fp)) return EndUnreadableBy(rule);
  knows_frame_ = knows_frame_ || has_saved_fp;
  uint64_t return_address = 0;
  if (return_slot != 0) {
    if (!ReadStackWord(SlotAddress(cfa, return_slot), &return_address)) {
      return EndUnreadableBy(rule);
    }
  } else {
    if (!knows_link_) return End(ChainEnd::kBadRegister);
    return_address = registers_.Get(numbers_.return_address);
  }
  if (!IsAligned(cfa)) return End(ChainEnd::kBadRegister);
  // With a link register, linkage tables push words and then jump to a function of glibc. The CFA in
  // that function's information excludes these words; the topmost one is the return address.
  const bool is_pushed_before = return_slot > 0 && HasLinkRegister(registers_.architecture());
  const uint64_t caller_sp = is_pushed_before ? SlotAddress(cfa, return_slot + 1) : cfa;
  // A leaf with its return address in the link register may have no frame at all.
  if (cfa < sp || (caller_sp == sp && return_slot != 0)) return End(ChainEnd::kNoProgress);
  Prefetch(caller_sp);
  const bool may_repeat = !is_derived && is_return_address_ && !late_ && return_slot != 0 &&
                          rule.signal_frame == 0 && rule.kind != UnwindRule::kRealigned;
  const uint64_t pc = registers_.pc();
  const Next next = GoTo(return_address, caller_sp, caller_fp, origin, rule.signal_frame == 0);
  if (may_repeat && next == Next::kGoOn) {
    known_.Add({.pc = pc,
                .sp = sp,
                .fp = fp,
                .return_slot = SlotAddress(cfa, return_slot),
                .frame_slot = has_saved_fp ? saved_fp : 0,
                .caller_sp = caller_sp});
  }
  return next;
}

// Steps with the full rules in rules_.
UnwindWalk::Next UnwindWalk::StepByFullRules(ElfAddress address) {
  if (!complete_) registers_.KeepOnly(FollowedRegisters());
  RegisterSet caller = registers_;
  if (!knows_stack_) caller.Forget(numbers_.sp);
  const Stepped stepped =
      StepByRules(rules_, !is_return_address_, *this, &expression_steps_, &caller);
  if (stepped == Stepped::kMalformed) return StepWithoutRule(address);
  switched_stack_ = switched_stack_ || (stepped == Stepped::kUnreadable && MayLeaveStack());
  const bool moves_stack = rules_.signal_frame;
  if (stepped == Stepped::kCaller && !moves_stack) {
    if (!IsAligned(caller.sp())) return End(ChainEnd::kBadRegister);
    // A function with its return address in a register may have nothing on the stack.
    const RegisterRule::Kind kind = rules_.registers[rules_.return_address].kind;
    const bool has_return_slot = kind == RegisterRule::kOffset || kind == RegisterRule::kExpression;
    const bool leaves_stack =
        MayLeaveStack() && (caller.sp() < stack_.start || caller.sp() - stack_.start > kStackReach);
    const bool goes_back = caller.sp() < registers_.sp() && !leaves_stack;
    if (goes_back || (caller.sp() == registers_.sp() && has_return_slot)) {
      return End(ChainEnd::kNoProgress);
    }
  }
  return Arrive(stepped, caller, !rules_.signal_frame);
}

// Returns true if rules_ may belong to code that calls a function on another stack, as OCaml 5
// does. In such code the old stack pointer is in a register, or an expression computes it.
bool UnwindWalk::MayLeaveStack() const {
  return rules_.cfa.kind == CfaRule::kExpression ||
         (rules_.cfa.number != numbers_.sp && rules_.cfa.number != numbers_.fp);
}

// Finishes a step that followed all registers.
UnwindWalk::Next UnwindWalk::Arrive(Stepped stepped, const RegisterSet& caller,
                                    bool is_return_address) {
  switch (stepped) {
    case Stepped::kThreadStart:
      return End(ChainEnd::kThreadStart);
    case Stepped::kUnknownRegister:
      if (!complete_ && !all_registers_) return Next::kFollowAllRegisters;
      return End(ChainEnd::kBadRegister);
    case Stepped::kUnreadable:
      return EndUnreadable();
    case Stepped::kMalformed:
      return End(ChainEnd::kNoCfi);
    case Stepped::kTooLong:
      return End(ChainEnd::kTooLongCfi);
    case Stepped::kCaller:
      break;
  }
  const uint64_t pc = Stripped(caller.pc());
  if (pc == 0) return is_return_address ? EndAtZero(caller.sp()) : End(ChainEnd::kNoReturnAddress);
  if (chain_.frames.size() >= limits_.max_frames) return End(ChainEnd::kTooDeep);
  registers_ = caller;
  registers_.Set(numbers_.pc, pc);
  knows_stack_ = true;
  knows_frame_ = registers_.Knows(numbers_.fp);
  knows_link_ = registers_.Knows(numbers_.return_address) && !is_return_address;
  switched_stack_ = switched_stack_ || !is_return_address;
  complete_ = true;
  Push(FrameOrigin::kCfi, is_return_address);
  return Next::kGoOn;
}

UnwindWalk::Next UnwindWalk::EndUnreadableBy(const UnwindRule& rule) {
  return StartsSegment(rule) ? End(ChainEnd::kStackSwitch) : EndUnreadable();
}

UnwindWalk::Next UnwindWalk::EndUnreadable() {
  const uint64_t end = stack_.start + stack_.bytes.size();
  const bool is_near = unreadable_ >= stack_.start && unreadable_ - end < kStackReach;
  const bool is_across = unreadable_ < end && unreadable_ >= stack_.start;
  if (is_near || is_across) return End(ChainEnd::kStackTooShort);
  return End(switched_stack_ ? ChainEnd::kStackSwitch : ChainEnd::kBadRegister);
}

bool UnwindWalk::ReadBytes(uint64_t address, std::span<std::byte> bytes) {
  const uint64_t offset = address - stack_.start;
  if (offset < stack_.bytes.size() && bytes.size() <= stack_.bytes.size() - offset) {
    std::memcpy(bytes.data(), stack_.bytes.data() + offset, bytes.size());
    return true;
  }
  if (space_.ReadMemory(address, bytes)) {
    late_ = true;
    return true;
  }
  unreadable_ = address;
  return false;
}

}  // namespace profiler::symbolize
