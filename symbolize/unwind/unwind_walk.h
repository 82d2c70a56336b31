// Unwinds one chain from the leaf outwards. unwind_walk.cc has the steps that follow rules,
// unwind_fallback.cc the steps without rules, and stack_switch.cc the steps to another stack.
//
// Normally only pc, sp and fp are followed, and all other registers are lost with the first step.
// If a rule needs one of them, as hand-written code near the leaf may, the walk starts again and
// follows all registers. Rare steps are not inlined, because they would make every step save
// registers and guard arrays.
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

  // Prefetch the copied stack this many bytes ahead, because it is in memory that was not read yet.
  static constexpr uint64_t kPrefetch = 256;
  static constexpr uint64_t kCacheLine = 64;
  // Limit on expression steps in one chain. Expressions from compilers and assemblers need 10 or 20
  // steps per frame.
  static constexpr uint32_t kExpressionSteps = 1 << 14;
  // A register that points at most this many bytes beyond the copied bytes may still point to the
  // stack.
  static constexpr uint64_t kStackReach = uint64_t{64} << 20;

  uint64_t SlotAddress(uint64_t base, int32_t slot) const {
    return base + static_cast<uint64_t>(int64_t{slot}) * word_;
  }
  bool IsAligned(uint64_t address) const { return (address & (word_ - 1)) == 0; }
  // Removes tags from a code address (AddressMask).
  uint64_t Stripped(uint64_t pc) const { return pc & pc_mask_; }
  static constexpr uint64_t Displaced(uint64_t base, int32_t offset) {
    return base + static_cast<uint64_t>(int64_t{offset});
  }

  void Start(const RegisterSet& registers, bool pc_is_return_address, bool all_registers);

  // Finds code like UnwindSpace::FindCode, with one difference: an image of another architecture
  // counts as an image without information. A 64-bit program may continue in 32 bits, as Windows
  // programs in Wine do. Then it has images of two architectures.
  bool FindCode(RuntimeAddress address, MappedCode* code) {
    if (!space_.FindCode(address, code)) return false;
    const bool is_other =
        code->cfi != nullptr && code->cfi->architecture() != registers_.architecture();
    if (is_other) [[unlikely]]
      code->cfi = nullptr;
    return true;
  }

  // Steps to the caller of the last frame.
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

  // Steps from a frame that no rule covers.
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
  std::optional<ReturnPath> FindReturnPath(bool is_interrupted);
  bool IsReturnAddress(uint64_t address);
  bool MayFollowCall(uint64_t address);
  std::optional<ReturnPath> ReturnPathOfLeaf();
  Next ReturnBy(const ReturnPath& back);
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

  // Goes to a caller of which only `pc`, `sp` and `fp` are known.
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

  // Keeps only the `count` innermost frames.
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

  // Reads a stack word. Returns false if it cannot be read. Words in the copied stack are read
  // fastest.
  bool ReadStackWord(uint64_t address, uint64_t* word) {
    return ReadCopiedWord(address, word) || ReadWord(address, word, word_);
  }

  // Prefetches the stack from the end of the last prefetch to somewhat above `address`.
  void Prefetch(uint64_t address) {
    const uint64_t end = address - stack_.start + kPrefetch;
    // Skips the inside of large frames.
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
  const uint64_t number_;  // number of the chain, counted from the first one
  UnwoundChain& chain_;

  RegisterSet registers_;  // registers of the last frame; the pc has no tags
  RegisterNumbers numbers_{};
  uint64_t word_ = sizeof(uint64_t);  // size of a word on the stack, in bytes
  uint64_t pc_mask_ = ~uint64_t{0};
  bool all_registers_ = false;  // true to follow all registers from the leaf on
  bool complete_ = true;        // false: only pc, sp and fp in registers_ belong to the last frame
  bool knows_link_ = true;      // true if the link register belongs to the last frame
  bool knows_stack_ = true;     // false: the last frame may begin further out than sp
  bool knows_frame_ = true;     // false: fp is unknown, because no frame so far has saved it
  bool recovered_ = false;      // true if the current step uses RecoverFramePointer
  bool is_return_address_ = false;
  bool late_ = false;  // true if memory outside the copied stack was read
  bool switched_stack_ = false;
  uint64_t unreadable_ = 0;
  uint64_t prefetched_ = 0;  // number of stack bytes that were prefetched

  bool in_code_ = false;
  MappedCode code_;
  FrameRules rules_;
  uint32_t expression_steps_ = kExpressionSteps;  // expression steps that may still run
};

}  // namespace profiler::symbolize
