// One chain on its way from the leaf out: unwind_walk.cc by rules, lost_walk.cc where they end,
// stack_switch.cc where the stack does.
//
// Only pc, sp and fp are followed, and every other register is lost with the first step, as long as
// no rule asks for one. If one does, which hand-written code near the leaf makes happen, the walk
// begins again and follows all registers. What is rare is not inlined: it would make every step
// save registers and guard arrays that only it has.
//
// Private to this package.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "src/base/address.h"
#include "symbolize/unwind/bare_frame.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/dwarf_expression.h"
#include "symbolize/unwind/frame_rules.h"
#include "symbolize/unwind/full_step.h"
#include "symbolize/unwind/known_steps.h"
#include "symbolize/unwind/managed_code.h"
#include "symbolize/unwind/memory_reader.h"
#include "symbolize/unwind/registers.h"
#include "symbolize/unwind/rule_cache.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

class UnwindWalk final : public MemoryReader {
 public:
  UnwindWalk(RuleCache& cache, KnownSteps& known, UnwindSpace& space, StackBytes stack,
             const UnwindLimits& limits, uint64_t number, UnwoundChain& chain)
      : cache_(cache),
        known_(known),
        space_(space),
        stack_(stack),
        limits_(limits),
        number_(number),
        chain_(chain) {}

  void Run(const RegisterSet& registers, bool pc_is_return_address);

  bool ReadBytes(uint64_t address, std::span<std::byte> bytes) override;

 private:
  enum class Next { kGoOn, kEnd, kFollowAllRegisters };

  // Stacks come from memory that no one has read yet: how far ahead of the walk they are asked for.
  static constexpr uint64_t kPrefetch = 256;
  static constexpr uint64_t kCacheLine = 64;
  // Of expressions in one chain: those of compilers and assemblers have ten or twenty a frame.
  static constexpr uint32_t kExpressionSteps = 1 << 14;
  // How far behind the copied bytes a register may point and still be taken for one of the stack's.
  static constexpr uint64_t kStackReach = uint64_t{64} << 20;

  uint64_t SlotAddress(uint64_t base, int32_t slot) const {
    return base + static_cast<uint64_t>(int64_t{slot}) * word_;
  }
  bool IsAligned(uint64_t address) const { return (address & (word_ - 1)) == 0; }
  // An address of code as it is followed: StripTags.
  uint64_t Stripped(uint64_t pc) const { return pc & pc_mask_; }
  static constexpr uint64_t Displaced(uint64_t base, int32_t offset) {
    return base + static_cast<uint64_t>(int64_t{offset});
  }

  void Start(const RegisterSet& registers, bool pc_is_return_address, bool all_registers);

  // As the space has it. Of an image of another architecture nothing is known: a program with 64
  // bits may go on with 32, as Windows programs do in Wine, and then its images are of both kinds.
  bool FindCode(RuntimeAddress address, MappedCode* code) {
    if (!space_.FindCode(address, code)) return false;
    const bool is_other =
        code->cfi != nullptr && code->cfi->architecture() != registers_.architecture();
    if (is_other) [[unlikely]]
      code->cfi = nullptr;
    return true;
  }

  // To the caller of the last frame.
  Next Step();
  template <class Word>
  void RepeatSteps();
  [[gnu::noinline]] Next DropStrayFrame();
  [[gnu::noinline]] bool StripLongSignature();
  uint64_t WithoutSignature(uint64_t address);
  UnwindRule FindRule(ElfAddress address);
  [[gnu::noinline]] UnwindRule LookUpRule(ElfAddress address);
  UnwindRule Reconsidered(UnwindRule rule);
  void ReconsiderReturnAddress(ElfAddress target, UnwindRule* rule);
  [[gnu::noinline]] bool MayGoOnHere(const UnwindRule& rule);
  Next StepByRule(UnwindRule rule, FrameOrigin origin = FrameOrigin::kCfi, bool is_derived = false);
  [[gnu::noinline]] UnwindRule MendInterruptedRule(ElfAddress address, UnwindRule told);
  bool FindRecord(const UnwindRule& rule, uint64_t* cfa) const;
  [[gnu::noinline]] bool RecoverFramePointer(const UnwindRule& rule, ElfAddress address);
  [[gnu::noinline]] CfiTable::Told FullRules(CfiTable& table, ElfAddress address);
  [[gnu::noinline]] Next StepByFullRules(ElfAddress address);
  bool MayLeaveStack() const;
  Next Arrive(Stepped stepped, const RegisterSet& caller, bool is_return_address);

  // Where no rule leads on.
  Next StepWithoutRule(ElfAddress address);
  Next StepOverStackSwitch(const StackSwitch& stack_switch);
  bool LeadsToFrame(uint64_t return_address, uint64_t sp, uint64_t fp);
  std::optional<Next> StepOverC(uint64_t frame_end);
  std::optional<Next> StepByMachine(bool* is_frameless);
  bool IsBehindSystemCall(uint64_t pc);
  struct DerivedStep {
    UnwindRule rule;
    FrameOrigin origin;
  };
  std::optional<DerivedStep> FindDerivedStep(ElfAddress address);
  bool CallsFunction(uint64_t return_address, RuntimeAddress function);
  bool LeadsTo(RuntimeAddress start, RuntimeAddress function);
  [[gnu::noinline]] Next EndAtZero(uint64_t caller_sp);
  bool StopsAhead(RuntimeAddress address);
  bool IsInEntryPoint(ElfAddress address);
  bool IsInFirstFunction();
  bool IsStartOfStack(ElfAddress address);
  std::optional<WayBack> FindWayBack(bool is_interrupted);
  bool IsReturnAddress(uint64_t address);
  bool MayFollowCall(uint64_t address);
  std::optional<WayBack> WayBackOfLeaf();
  Next ReturnBy(const WayBack& back);
  Next GoToAboveRecord(uint64_t pc, uint64_t sp, uint64_t fp);
  Next FollowFramePointer();
  bool LeaveByInstructions(const RegisterSet& registers, bool pc_is_return_address);
  bool FindCatchingFrame();
  bool HandsOver(RuntimeAddress instruction);
  bool GoOnWhereCaught(size_t frame);
  std::optional<uint64_t> FindCatchingCall(uint64_t address, RuntimeAddress call);

  uint64_t FollowedRegisters() const {
    return uint64_t{1} << numbers_.pc | uint64_t{1} << numbers_.sp | uint64_t{1} << numbers_.fp;
  }

  void SetFollowed(uint64_t pc, uint64_t sp, uint64_t fp) {
    registers_.Set(numbers_.pc, pc);
    registers_.Set(numbers_.sp, sp);
    registers_.Set(numbers_.fp, fp);
    if (!knows_frame_) [[unlikely]]
      registers_.Forget(numbers_.fp);
    complete_ = false;
    knows_link_ = false;
    knows_stack_ = true;
  }

  // The caller has these registers, and none else is known.
  Next GoTo(uint64_t pc, uint64_t sp, uint64_t fp, FrameOrigin origin, bool is_return_address) {
    pc = Stripped(pc);
    if (pc == 0) [[unlikely]]
      return EndAtZero(sp);
    if (chain_.frames.size() >= limits_.max_frames) return End(ChainEnd::kTooDeep);
    SetFollowed(pc, sp, fp);
    Push(origin, is_return_address);
    return Next::kGoOn;
  }

  void Push(FrameOrigin origin, bool is_return_address) {
    is_return_address_ = is_return_address;
    if (recovered_) [[unlikely]] {
      origin = FrameOrigin::kGuess;
      recovered_ = false;
    }
    chain_.frames.push_back(
        {RuntimeAddress{registers_.pc()}, registers_.sp(), origin, is_return_address, late_});
    chain_.guessed += origin == FrameOrigin::kGuess ? 1 : 0;
    chain_.late_read += late_ ? 1 : 0;
    late_ = false;
  }

  // The innermost ones alone.
  void KeepFrames(size_t count);

  Next End(ChainEnd end) {
    chain_.end = end;
    return Next::kEnd;
  }
  Next EndUnreadable();
  [[gnu::noinline]] Next EndUnreadableBy(const UnwindRule& rule);

  bool ReadCopiedWord(uint64_t address, uint64_t* word) const {
    if (word_ == sizeof(uint64_t)) [[likely]]
      return ReadCopied<uint64_t>(address, word);
    return ReadCopied<uint32_t>(address, word);
  }

  template <class Word>
  bool ReadCopied(uint64_t address, uint64_t* word) const {
    const uint64_t offset = address - stack_.start;
    const uint64_t size = stack_.bytes.size();
    if (offset >= size || sizeof(Word) > size - offset) return false;
    Word read = 0;
    std::memcpy(&read, stack_.bytes.data() + offset, sizeof(read));
    *word = read;
    return true;
  }

  // The common case of ReadBytes.
  bool ReadStackWord(uint64_t address, uint64_t* word) {
    return ReadCopiedWord(address, word) || ReadWord(address, word, word_);
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

  RuleCache& cache_;
  KnownSteps& known_;
  UnwindSpace& space_;
  const StackBytes stack_;
  const UnwindLimits& limits_;
  const uint64_t number_;  // of the chain, counted from the first one
  UnwoundChain& chain_;

  RegisterSet registers_;  // of the last frame; its pc without tags
  RegisterNumbers numbers_{};
  uint64_t word_ = sizeof(uint64_t);  // bytes of one, on its stack
  uint64_t pc_mask_ = ~uint64_t{0};
  bool all_registers_ = false;  // follow all of them from the leaf on
  bool complete_ = true;        // registers_ has more than pc, sp and fp; else the rest is stale
  bool knows_link_ = true;      // the link register is this frame's
  bool knows_stack_ = true;     // so is sp; else the frame only begins there or further out
  bool knows_frame_ = true;     // so is fp; else no frame so far has saved it
  bool recovered_ = false;      // the step at hand goes by RecoverFramePointer
  bool is_return_address_ = false;
  bool late_ = false;  // memory was read that was not copied
  bool switched_stack_ = false;
  uint64_t unreadable_ = 0;
  uint64_t prefetched_ = 0;  // bytes of the stack

  bool in_code_ = false;
  MappedCode code_;
  FrameRules rules_;
  uint32_t expression_steps_ = kExpressionSteps;  // that may still be taken
};

}  // namespace profiler::symbolize
