#include "symbolize/unwind/unwinder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "symbolize/unwind/bare_frame.h"
#include "symbolize/unwind/call_instruction.h"
#include "symbolize/unwind/dwarf_expression.h"
#include "symbolize/unwind/frame_rules.h"
#include "symbolize/unwind/full_step.h"
#include "symbolize/unwind/known_steps.h"
#include "symbolize/unwind/rule_cache.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kWord = 8;
// Stacks come from memory that no one has read yet: how far ahead of the walk they are asked for.
constexpr uint64_t kPrefetch = 256;
constexpr uint64_t kCacheLine = 64;
// How far behind the copied bytes a register may point and still be taken for one of the stack's.
constexpr uint64_t kStackReach = uint64_t{64} << 20;
// An image's entry point has no caller, and often says nothing of itself.
constexpr uint64_t kEntryCode = 64;
// Words on top of the stack among which the return address of hand-written code is searched: more
// than there are registers to be saved.
constexpr uint64_t kSearchedWords = 8;

constexpr uint64_t SlotAddress(uint64_t base, int32_t slot) {
  return base + static_cast<uint64_t>(int64_t{slot}) * kWord;
}
constexpr uint64_t Displaced(uint64_t base, int32_t offset) {
  return base + static_cast<uint64_t>(int64_t{offset});
}

}  // namespace

std::string_view ChainEndName(ChainEnd end) {
  switch (end) {
    case ChainEnd::kThreadStart:
      return "thread start";
    case ChainEnd::kNoImage:
      return "no image";
    case ChainEnd::kNoCfi:
      return "no call frame information";
    case ChainEnd::kStackTooShort:
      return "stack too short";
    case ChainEnd::kBadRegister:
      return "bad register";
    case ChainEnd::kNoProgress:
      return "no progress";
    case ChainEnd::kTooDeep:
      return "too deep";
  }
  return "unknown";
}

// One chain on its way from the leaf out.
//
// Only pc, sp and fp are followed, and every other register is lost with the first step, as long as
// no rule asks for one. If one does, which hand-written code near the leaf makes happen, the walk
// begins again and follows all registers. What is rare is not inlined: it would make every step
// save registers and guard arrays that only it has.
class Unwinder::Walk final : public MemoryReader {
 public:
  Walk(RuleCache& cache, KnownSteps& known, UnwindSpace& space, StackBytes stack,
       const UnwindLimits& limits, UnwoundChain& chain)
      : cache_(cache),
        known_(known),
        space_(space),
        stack_(stack),
        limits_(limits),
        chain_(chain) {}

  void Run(const RegisterSet& registers, bool pc_is_return_address) {
    for (const bool all_registers : {false, true}) {
      Start(registers, pc_is_return_address, all_registers);
      Next next = Next::kGoOn;
      while (next == Next::kGoOn) next = Step();
      if (next == Next::kEnd) break;
    }
    if (chain_.end != ChainEnd::kThreadStart && FindCatchingFrame()) {
      while (Step() == Next::kGoOn) {
      }
    }
    known_.Finish();
    if (!complete_) registers_.KeepOnly(FollowedRegisters());
    chain_.registers = registers_;
    chain_.end_image = in_code_ ? code_.image : 0;
  }

  bool ReadBytes(uint64_t address, std::span<std::byte> bytes) override {
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

 private:
  enum class Next { kGoOn, kEnd, kFollowAllRegisters };

  void Start(const RegisterSet& registers, bool pc_is_return_address, bool all_registers) {
    registers_ = registers;
    numbers_ = NumbersOf(registers.architecture());
    all_registers_ = all_registers;
    complete_ = true;
    knows_link_ = !pc_is_return_address;
    known_.Start(all_registers ? 0 : space_.Identity(), registers.sp());
    prefetched_ = registers.sp() - stack_.start;
    Prefetch(registers.sp());
    chain_.frames.clear();
    chain_.guessed = chain_.late_read = 0;
    Push(FrameOrigin::kRegisters, pc_is_return_address);
  }

  uint64_t FollowedRegisters() const {
    return uint64_t{1} << numbers_.pc | uint64_t{1} << numbers_.sp | uint64_t{1} << numbers_.fp;
  }

  void Push(FrameOrigin origin, bool is_return_address) {
    const uint64_t pc = StripTags(registers_.architecture(), registers_.pc());
    is_return_address_ = is_return_address;
    chain_.frames.push_back(
        {RuntimeAddress{pc}, registers_.sp(), origin, is_return_address, late_});
    chain_.guessed += origin == FrameOrigin::kGuess ? 1 : 0;
    chain_.late_read += late_ ? 1 : 0;
    late_ = false;
  }

  // The innermost ones alone.
  void KeepFrames(size_t count) {
    for (size_t i = count; i < chain_.frames.size(); ++i) {
      chain_.guessed -= chain_.frames[i].origin == FrameOrigin::kGuess ? 1 : 0;
      chain_.late_read -= chain_.frames[i].late_read ? 1 : 0;
    }
    chain_.frames.resize(count);
    late_ = false;
  }

  Next End(ChainEnd end) {
    chain_.end = end;
    return Next::kEnd;
  }

  Next EndUnreadable() {
    const uint64_t end = stack_.start + stack_.bytes.size();
    const bool is_near = unreadable_ >= stack_.start && unreadable_ - end < kStackReach;
    const bool is_across = unreadable_ < end && unreadable_ >= stack_.start;
    return End(is_near || is_across || switched_stack_ ? ChainEnd::kStackTooShort
                                                       : ChainEnd::kBadRegister);
  }

  // To the caller of the last frame.
  Next Step() {
    if (is_return_address_) RepeatSteps();
    const uint64_t pc = chain_.frames.back().address.value;
    const bool was_return_address = is_return_address_;
    const RuntimeAddress instruction{pc - (was_return_address ? 1 : 0)};
    if (!in_code_ || !code_.Holds(instruction)) in_code_ = space_.FindCode(instruction, &code_);
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
    // A signal handler returns to the first instruction of code that calls nothing.
    if (rule.signal_frame != 0) chain_.frames.back().is_return_address = false;
    switch (rule.kind) {
      case UnwindRule::kNone:
        return StepWithoutRule(address);
      case UnwindRule::kThreadStart:
        return End(ChainEnd::kThreadStart);
      default:
        const bool is_full = rule.kind == UnwindRule::kFull || all_registers_;
        if (is_full && code_.cfi->FullRules(address, &rules_)) return StepByFullRules(address);
        if (rule.kind == UnwindRule::kFull) return StepWithoutRule(address);
        return StepByRule(rule);
    }
  }

  // A thread in a system call stands behind the instruction, which may be the last one of its
  // function: of the C library's code that returns from a signal, for instance.
  [[gnu::noinline]] bool IsBehindSystemCall(uint64_t pc) {
    constexpr std::array<std::byte, 2> kSyscall = {std::byte{0x0f}, std::byte{0x05}};
    std::array<std::byte, 2> code;
    return registers_.architecture() == Architecture::kX86_64 &&
           space_.ReadMemory(pc - code.size(), code) && code == kSyscall;
  }

  // The steps from the last frame on, as far as they are those of the last chain.
  void RepeatSteps() {
    uint64_t pc = registers_.pc(), sp = registers_.sp(), fp = registers_.fp();
    const size_t before = chain_.frames.size();
    while (const KnownStep* const step = known_.Find(pc, sp, fp)) {
      uint64_t caller_pc = 0, caller_fp = fp;
      const bool leads_on = chain_.frames.size() < limits_.max_frames &&
                            ReadCopiedWord(step->return_slot, &caller_pc) &&
                            StripTags(registers_.architecture(), caller_pc) != 0 &&
                            (step->frame_slot == 0 || ReadCopiedWord(step->frame_slot, &caller_fp));
      if (!leads_on) break;
      pc = caller_pc, sp = step->caller_sp, fp = caller_fp;
      known_.Repeat();
      Prefetch(sp);
      chain_.frames.push_back({RuntimeAddress{StripTags(registers_.architecture(), pc)}, sp,
                               FrameOrigin::kCfi, true, false});
    }
    if (chain_.frames.size() != before) SetFollowed(pc, sp, fp);
  }

  // The rule of the last frame, whose instruction is at `address`.
  UnwindRule FindRule(ElfAddress address) {
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

  [[gnu::noinline]] UnwindRule LookUpRule(ElfAddress address) {
    UnwindRule rule = code_.cfi->Find(address);
    if (is_return_address_) ReconsiderReturnAddress({address.value + 1}, &rule);
    return rule;
  }

  UnwindRule Reconsidered(UnwindRule rule) {
    if (rule.not_called != 0) [[unlikely]] {
      is_return_address_ = chain_.frames.back().is_return_address = false;
    }
    return rule;
  }

  // What throws an exception "returns" to the code that catches it. That is no return address: what
  // stands before it is other code, often the end of another path through the function.
  void ReconsiderReturnAddress(ElfAddress target, UnwindRule* rule) {
    const UnwindRule at_target = code_.cfi->Find(target);
    if (at_target == *rule || at_target.kind == UnwindRule::kNone ||
        MayFollowCall(chain_.frames.back().address.value)) {
      return;
    }
    *rule = at_target;
    rule->not_called = 1;
  }

  // False where the instruction before `address` is known to be no call.
  bool MayFollowCall(uint64_t address) {
    std::array<uint8_t, kLongestCall> code{};
    const bool is_known =
        space_.ReadMemory(address - code.size(), std::as_writable_bytes(std::span(code)));
    return !is_known || EndsInCall(registers_.architecture(), code);
  }

  Next StepByRule(UnwindRule rule) {
    const uint64_t sp = registers_.sp();
    const uint64_t fp = registers_.fp();
    uint64_t cfa = 0;
    int32_t return_slot = rule.return_slot;
    uint64_t saved_fp = 0;  // where it is
    switch (rule.kind) {
      case UnwindRule::kFromStackPointer:
        cfa = Displaced(sp, rule.cfa_offset);
        saved_fp = SlotAddress(cfa, rule.frame_slot);
        break;
      case UnwindRule::kFromFramePointer:
        cfa = Displaced(fp, rule.cfa_offset);
        saved_fp = SlotAddress(cfa, rule.frame_slot);
        break;
      case UnwindRule::kLinkageTable: {
        const bool has_pushed =
            (registers_.pc() & 15) >= static_cast<uint64_t>(int64_t{rule.return_slot});
        cfa = Displaced(sp, rule.cfa_offset) + (has_pushed ? kWord : 0);
        return_slot = -1;
        break;
      }
      default:  // kRealigned
        if (!ReadStackWord(Displaced(fp, rule.cfa_offset), &cfa)) return EndUnreadable();
        saved_fp = SlotAddress(fp, rule.frame_slot);
        break;
    }
    // An interrupted epilogue has popped what lies below the stack pointer (StepByRules).
    const bool has_saved_fp = (rule.frame_slot != 0 || rule.kind == UnwindRule::kRealigned) &&
                              (saved_fp >= sp || is_return_address_);
    uint64_t caller_fp = fp;
    if (has_saved_fp && !ReadStackWord(saved_fp, &caller_fp)) return EndUnreadable();
    uint64_t return_address = 0;
    if (return_slot != 0) {
      if (!ReadStackWord(SlotAddress(cfa, return_slot), &return_address)) return EndUnreadable();
    } else {
      if (!knows_link_) return End(ChainEnd::kBadRegister);
      return_address = registers_.Get(numbers_.return_address);
    }
    if (cfa % kWord != 0) return End(ChainEnd::kBadRegister);
    // A leaf on AArch64 may have no frame at all.
    if (cfa < sp || (cfa == sp && return_slot != 0)) return End(ChainEnd::kNoProgress);
    Prefetch(cfa);
    const bool may_repeat = is_return_address_ && !late_ && return_slot != 0 &&
                            rule.signal_frame == 0 && rule.kind != UnwindRule::kRealigned;
    const uint64_t pc = registers_.pc();
    const Next next =
        GoTo(return_address, cfa, caller_fp, FrameOrigin::kCfi, rule.signal_frame == 0);
    if (may_repeat && next == Next::kGoOn) {
      known_.Add({.pc = pc,
                  .sp = sp,
                  .fp = fp,
                  .return_slot = SlotAddress(cfa, return_slot),
                  .frame_slot = has_saved_fp ? saved_fp : 0,
                  .caller_sp = cfa});
    }
    return next;
  }

  // Asks for the stack from where that was done last up to somewhat above `address`.
  void Prefetch(uint64_t address) {
    const uint64_t end = address - stack_.start + kPrefetch;
    // Not through a frame that is larger than that.
    if (end - prefetched_ > 2 * kPrefetch) prefetched_ = end - kPrefetch;
    const uint64_t last = std::min<uint64_t>(end, stack_.bytes.size());
    for (; prefetched_ < last; prefetched_ += kCacheLine) {
      __builtin_prefetch(stack_.bytes.data() + prefetched_);
    }
  }

  bool ReadCopiedWord(uint64_t address, uint64_t* word) const {
    const uint64_t offset = address - stack_.start;
    if (offset >= stack_.bytes.size() || kWord > stack_.bytes.size() - offset) return false;
    std::memcpy(word, stack_.bytes.data() + offset, kWord);
    return true;
  }

  // The common case of ReadBytes.
  bool ReadStackWord(uint64_t address, uint64_t* word) {
    return ReadCopiedWord(address, word) || ReadWord(address, word);
  }

  // The caller has these registers, and none else is known.
  Next GoTo(uint64_t pc, uint64_t sp, uint64_t fp, FrameOrigin origin, bool is_return_address) {
    if (StripTags(registers_.architecture(), pc) == 0) return End(ChainEnd::kThreadStart);
    if (chain_.frames.size() >= limits_.max_frames) return End(ChainEnd::kTooDeep);
    SetFollowed(pc, sp, fp);
    Push(origin, is_return_address);
    return Next::kGoOn;
  }

  void SetFollowed(uint64_t pc, uint64_t sp, uint64_t fp) {
    registers_.Set(numbers_.pc, pc);
    registers_.Set(numbers_.sp, sp);
    registers_.Set(numbers_.fp, fp);
    complete_ = false;
    knows_link_ = false;
  }

  // By rules_.
  [[gnu::noinline]] Next StepByFullRules(ElfAddress address) {
    if (!complete_) registers_.KeepOnly(FollowedRegisters());
    RegisterSet caller = registers_;
    const Stepped stepped = StepByRules(rules_, !is_return_address_, *this, &caller);
    if (stepped == Stepped::kMalformed) return StepWithoutRule(address);
    const bool moves_stack = rules_.signal_frame;
    if (stepped == Stepped::kCaller && !moves_stack) {
      if (caller.sp() % kWord != 0) return End(ChainEnd::kBadRegister);
      // One whose return address is in a register may have nothing on the stack.
      const RegisterRule::Kind kind = rules_.registers[rules_.return_address].kind;
      const bool has_return_slot =
          kind == RegisterRule::kOffset || kind == RegisterRule::kExpression;
      if (caller.sp() < registers_.sp() || (caller.sp() == registers_.sp() && has_return_slot)) {
        return End(ChainEnd::kNoProgress);
      }
    }
    return Arrive(stepped, caller, !rules_.signal_frame);
  }

  // After a step that followed all registers.
  Next Arrive(Stepped stepped, const RegisterSet& caller, bool is_return_address) {
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
      case Stepped::kCaller:
        break;
    }
    if (StripTags(registers_.architecture(), caller.pc()) == 0) return End(ChainEnd::kThreadStart);
    if (chain_.frames.size() >= limits_.max_frames) return End(ChainEnd::kTooDeep);
    registers_ = caller;
    knows_link_ = registers_.Knows(numbers_.return_address) && !is_return_address;
    switched_stack_ = switched_stack_ || !is_return_address;
    complete_ = true;
    Push(FrameOrigin::kCfi, is_return_address);
    return Next::kGoOn;
  }

  // Code that says nothing of its frames.
  [[gnu::noinline]] Next StepWithoutRule(ElfAddress address) {
    if (!complete_) registers_.KeepOnly(FollowedRegisters());
    RegisterSet caller = registers_;
    const Stepped stepped = in_code_ ? StepOverSignalReturn(*this, &caller) : Stepped::kMalformed;
    if (stepped != Stepped::kMalformed) {
      chain_.frames.back().is_return_address = false;
      return Arrive(stepped, caller, false);
    }
    if (in_code_ && code_.cfi != nullptr && address >= code_.cfi->entry() &&
        code_.cfi->entry().value != 0 && address.value - code_.cfi->entry().value < kEntryCode) {
      return End(ChainEnd::kThreadStart);
    }
    late_ = false;
    if (!limits_.frame_pointers) return End(in_code_ ? ChainEnd::kNoCfi : ChainEnd::kNoImage);
    const bool is_interrupted = chain_.frames.size() == 1 && !is_return_address_;
    if (in_code_ && (is_interrupted || is_return_address_)) {
      if (const auto back = FindWayBack(is_interrupted)) return ReturnBy(*back);
    }
    const Next next = FollowFramePointer();
    const bool is_lost = next == Next::kEnd && chain_.end == ChainEnd::kNoCfi;
    if (is_lost && is_interrupted && code_.cfi != nullptr) {
      for (uint64_t words = 0; words < kSearchedWords; ++words) {
        uint64_t address = 0;
        if (!ReadCopiedWord(registers_.sp() + words * kWord, &address)) break;
        if (IsReturnAddress(address)) return ReturnBy({words, std::nullopt});
      }
    }
    return next;
  }

  // Where the next instructions of the last frame show that its frame pointer does not lead on.
  std::optional<WayBack> FindWayBack(bool is_interrupted) {
    std::array<uint8_t, kBareFrameCode> code{};
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(code));
    const RuntimeAddress pc = chain_.frames.back().address;
    // Less where the mapping ends.
    if (!space_.ReadCode(pc, bytes) && !space_.ReadCode(pc, bytes.first(kWord))) {
      return std::nullopt;
    }
    const auto back = WayBackOf(registers_.architecture(), code, is_interrupted);
    if (!back) return std::nullopt;
    uint64_t address = 0;
    const bool is_copied = ReadCopiedWord(registers_.sp() + back->return_address * kWord, &address);
    return is_copied && !IsReturnAddress(address) ? std::nullopt : back;
  }

  // Whether it is behind a call.
  bool IsReturnAddress(uint64_t address) {
    MappedCode code;
    std::array<uint8_t, kLongestCall> call{};
    return address > call.size() && space_.FindCode(RuntimeAddress{address - 1}, &code) &&
           space_.ReadCode(RuntimeAddress{address - call.size()},
                           std::as_writable_bytes(std::span(call))) &&
           EndsInCall(registers_.architecture(), call);
  }

  Next ReturnBy(const WayBack& back) {
    const uint64_t sp = registers_.sp();
    const uint64_t slot = sp + back.return_address * kWord;
    uint64_t address = 0;
    uint64_t caller_fp = registers_.fp();
    if (!ReadStackWord(slot, &address)) return EndUnreadable();
    if (back.frame_pointer && !ReadStackWord(sp + *back.frame_pointer * kWord, &caller_fp)) {
      return EndUnreadable();
    }
    registers_.KeepOnly(FollowedRegisters());
    return GoTo(address, slot + kWord, caller_fp, FrameOrigin::kGuess, true);
  }

  //   fp ▶ │ caller's fp    │
  //        │ return address │
  //        ├─ caller's sp ──┤
  //
  // A register that is no frame pointer rarely points to a word of the stack that is followed by
  // the address of an instruction.
  Next FollowFramePointer() {
    const ChainEnd unknown = in_code_ ? ChainEnd::kNoCfi : ChainEnd::kNoImage;
    const uint64_t fp = registers_.fp();
    if (fp == 0 && in_code_ && is_return_address_) return End(ChainEnd::kThreadStart);
    if (fp % kWord != 0 || fp < registers_.sp()) return End(unknown);
    uint64_t caller_fp = 0;
    uint64_t return_address = 0;
    if (!ReadStackWord(fp, &caller_fp) || !ReadStackWord(fp + kWord, &return_address)) {
      const uint64_t end = stack_.start + stack_.bytes.size();
      return End(fp - registers_.sp() < kStackReach && fp + 2 * kWord > end
                     ? ChainEnd::kStackTooShort
                     : unknown);
    }
    const uint64_t stripped = StripTags(registers_.architecture(), return_address);
    MappedCode code;
    if (stripped != 0 && !space_.FindCode(RuntimeAddress{stripped - 1}, &code)) return End(unknown);
    registers_.KeepOnly(FollowedRegisters());
    return GoTo(return_address, fp + 2 * kWord, caller_fp, FrameOrigin::kGuess, true);
  }

  // Whether a walk that is lost can go on, as it met an exception that is being handed over. What
  // throws, libgcc's _Unwind_RaiseException and its like, ends in the function that catches. Before
  // that it writes the registers of that function over those that its own frame has saved, one
  // after the other, and over its return address:
  //
  //   its frame               │ fp …           │  of the catching function
  //                           │ return address │  in the catching function: a copy of …
  //                           ├────────────────┤
  //   frames to be dropped    │                │
  //   … of what that called   │ return address │  … this one; at last, where it catches
  //                           ├────────────────┤  so here its frame begins, and not further down
  //
  [[gnu::noinline]] bool FindCatchingFrame() {
    constexpr size_t kInnermost = 3;  // one may be at it, with what it calls
    if (!limits_.frame_pointers) return false;
    const size_t count = std::min(chain_.frames.size(), kInnermost + 1);
    for (size_t i = 0; i + 1 < count; ++i) {
      if (HandsOver(chain_.frames[i].instruction())) return GoOnWhereCaught(i + 1);
    }
    return false;
  }

  // Leaves the full rules of the function in rules_. No other one saves the two registers that
  // carry an exception into the function that catches it, __builtin_eh_return_data_regno: nobody
  // has to preserve them.
  bool HandsOver(RuntimeAddress instruction) {
    MappedCode code;
    return space_.FindCode(instruction, &code) && code.cfi != nullptr &&
           code.cfi->FullRules({instruction.value - code.bias}, &rules_) &&
           rules_.registers[0].kind == RegisterRule::kOffset &&
           rules_.registers[1].kind == RegisterRule::kOffset;
  }

  // The frame that rules_ led to is the catching function's.
  bool GoOnWhereCaught(size_t frame) {
    const uint64_t cfa = chain_.frames[frame].stack_pointer;
    const uint64_t address = chain_.frames[frame].address.value;
    const RegisterRule& fp_rule = rules_.registers[numbers_.fp];
    uint64_t fp = 0;
    if (fp_rule.kind != RegisterRule::kOffset ||
        !ReadStackWord(cfa + static_cast<uint64_t>(fp_rule.offset), &fp)) {
      return false;
    }
    const std::optional<uint64_t> slot = FindCatchingCall(cfa, chain_.frames[frame].instruction());
    if (!slot) return false;
    KeepFrames(frame);
    known_.Start(0, 0);  // what was walked in vain is not to be known again
    in_code_ = false;
    registers_.KeepOnly(FollowedRegisters());
    return GoTo(address, *slot + kWord, fp, FrameOrigin::kGuess, true) == Next::kGoOn;
  }

  // The word from `address` on that leads to behind the instruction `call`, or to where its
  // function catches.
  std::optional<uint64_t> FindCatchingCall(uint64_t address, RuntimeAddress call) {
    MappedCode code;
    if (!space_.FindCode(call, &code) || code.cfi == nullptr) return std::nullopt;
    const auto function = code.cfi->FunctionAt({call.value - code.bias});
    if (!function) return std::nullopt;
    const uint64_t start = function->start.value + code.bias;
    for (uint64_t word = 0; ReadCopiedWord(address, &word); address += kWord) {
      word = StripTags(registers_.architecture(), word);
      if (word - start > function->size) continue;
      if (word == call.value + 1 || !MayFollowCall(word)) return address;
    }
    return std::nullopt;
  }

  RuleCache& cache_;
  KnownSteps& known_;
  UnwindSpace& space_;
  const StackBytes stack_;
  const UnwindLimits& limits_;
  UnwoundChain& chain_;

  RegisterSet registers_;  // of the last frame
  RegisterNumbers numbers_{};
  bool all_registers_ = false;  // follow all of them from the leaf on
  bool complete_ = true;        // registers_ has more than pc, sp and fp; else the rest is stale
  bool knows_link_ = true;      // the link register is this frame's
  bool is_return_address_ = false;
  bool late_ = false;  // memory was read that was not copied
  bool switched_stack_ = false;
  uint64_t unreadable_ = 0;
  uint64_t prefetched_ = 0;  // bytes of the stack

  bool in_code_ = false;
  MappedCode code_;
  FrameRules rules_;
};

Unwinder::Unwinder()
    : rules_(std::make_unique<RuleCache>()), known_(std::make_unique<KnownSteps>()) {}
Unwinder::Unwinder(Unwinder&&) noexcept = default;
Unwinder& Unwinder::operator=(Unwinder&&) noexcept = default;
Unwinder::~Unwinder() = default;

void Unwinder::Unwind(const RegisterSet& registers, StackBytes stack, UnwindSpace& space,
                      const UnwindLimits& limits, UnwoundChain* chain, bool pc_is_return_address) {
  Walk walk(*rules_, *known_, space, stack, limits, *chain);
  walk.Run(registers, pc_is_return_address);
}

}  // namespace profiler::symbolize
