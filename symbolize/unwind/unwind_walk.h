// Unwinds one chain from the leaf outwards. The walk only sequences steps; each step is a function
// or a small class of its own, in the file that is named below. A step gets the last frame
// (ChainFrame), the stack (StackReader) and the code (CodeSpace). It returns the caller and its
// certainty, or the reason for the chain's end (CallerStep).
//
// For each frame, in this order. A step is tried only if the ones before it do not apply:
//
//   1. a step of the last chain         known_steps.h       No rule is looked up, so it is fastest.
//   2. code at the frame's address      code_space.h        Without code, the address was no return
//                                                           address, and the frame is dropped.
//   3. the rule at the address          rule_finder.h       Nearly every frame has one. A rule that
//                                                           cannot be valid there is replaced, and
//                                                           not used, before the stack is read.
//   4. the step by that rule            rule_step.h         If only pc, sp and fp are needed.
//                                       full_step.h         If other registers are needed.
//
// For a frame without a rule, proofs come first and guesses last:
//
//   5. a switch of stacks               stack_switches.h    The function says that its stack differs,
//                                                           so no step below could be right.
//   6. the tables of a virtual machine  managed_code.h      They are exact.
//   7. the return from a signal         full_step.h         Its code is unmistakable.
//   8. the entry point                  stack_start.h       It has no caller.
//   9. a rule from instructions         derived_step.h      Proven if the caller calls the function.
//  10. code that never returns          stack_start.h       It is a stack's start if nothing calls it.
//  11. the next instructions            return_path_step.h  At the ends of a function, the frame
//                                                           pointer is the caller's: a step by it
//                                                           would skip the caller.
//  12. the frame pointer                frame_pointer_step.h
//  13. words on top of the stack        return_path_step.h  Only if the frame pointer leads nowhere.
//
// After a chain that is not whole:
//
//  14. a rule from instructions         derived_step.h      If the leaf's own rule was wrong.
//  15. the catching function            exception_handover.h
//
// Normally only pc, sp and fp are followed, and all other registers are lost with the first step.
// If a rule needs one of them, as hand-written code near the leaf may, the walk starts again and
// follows all registers. Rare steps are not inlined, because they would make every step save
// registers and guard arrays.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/address.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/chain_frame.h"
#include "symbolize/unwind/code_space.h"
#include "symbolize/unwind/derived_step.h"
#include "symbolize/unwind/full_rule_lookup.h"
#include "symbolize/unwind/full_step.h"
#include "symbolize/unwind/known_steps.h"
#include "symbolize/unwind/managed_step.h"
#include "symbolize/unwind/registers.h"
#include "symbolize/unwind/rule_finder.h"
#include "symbolize/unwind/stack_reader.h"
#include "symbolize/unwind/stack_switches.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

// The caches that outlive a chain.
struct UnwindCaches {
  RuleCache& rules;
  KnownSteps& steps;
};

class UnwindWalk final {
 public:
  // `switches` may be null. `number` is the number of the chain, counted from the first one. All
  // references must outlive the walk.
  UnwindWalk(UnwindCaches caches, const StackSwitches* switches, UnwindSpace& space,
             StackBytes stack, const UnwindLimits& limits, uint64_t number,
             const RegisterSet& registers, bool pc_is_return_address, UnwoundChain& chain);

  void Run();

 private:
  enum class Next { kGoOn, kEnd, kFollowAllRegisters };

  void Start(bool all_registers);

  // Steps to the caller of the last frame.
  Next Step();
  template <class Word>
  void RepeatSteps();
  UnwindRule FindRule(ElfAddress address);
  Next StepByRule(const UnwindRule& rule);
  [[gnu::noinline]] Next StepByFullRules(const UnwindRule& rule, ElfAddress address);
  [[gnu::noinline]] Next StepWithoutRule(ElfAddress address);
  [[gnu::noinline]] Next StepByDerivedRule(const DerivedStep& step);
  [[gnu::noinline]] bool LearnFramePointer(const UnwindRule& rule, ElfAddress address);

  // Rejects the last frame, or corrects its address.
  [[gnu::noinline]] Next DropStrayFrame();
  [[gnu::noinline]] bool StripLongSignature();
  [[gnu::noinline]] bool MayGoOnHere(const UnwindRule& rule);

  // Continues a chain that has ended. Returns true if the chain goes on.
  bool LeaveByInstructions();
  bool GoOnWhereCaught();

  // Carries out the result of a step.
  Next Take(const CallerStep& step);
  Next TakeManaged(const CheckedManagedStep& step);
  // Inlined, so that the step of nearly all frames does not go through memory.
  [[gnu::always_inline]] Next GoTo(const CallerStep& step);
  Next Arrive(Stepped stepped, const RegisterSet& caller, bool is_return_address);
  void SetFollowed(uint64_t pc, uint64_t sp, uint64_t fp);
  void Push(FrameOrigin origin, bool is_return_address);
  void KeepOnlyFollowed() { frame_.registers.KeepOnly(frame_.FollowedRegisters()); }
  void KeepFrames(size_t count);  // keeps only the `count` innermost frames
  [[gnu::noinline]] Next EndAtZero(uint64_t caller_sp);
  Next End(ChainEnd end) {
    chain_.end = end;
    return Next::kEnd;
  }

  KnownSteps& known_;
  const StackSwitches* const switches_;  // null: chains end at switches of stacks
  const UnwindLimits& limits_;
  const RegisterSet& leaf_registers_;
  const bool pc_is_return_address_;
  UnwoundChain& chain_;
  const CodeSpace space_;
  StackReader stack_;
  RuleFinder rule_finder_;
  FullRuleLookup full_rules_;

  ChainFrame frame_;            // the last frame of the chain
  bool all_registers_ = false;  // true to follow all registers from the leaf on
  bool recovered_ = false;      // true if the current step uses LearnFramePointer
  bool switched_stack_ = false;
  uint32_t expression_steps_;  // expression steps that may still run
};

}  // namespace profiler::symbolize
