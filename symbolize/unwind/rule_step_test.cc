// Tests the steps that read the stack: rule_step.h, frame_pointer_step.h, return_path_step.h,
// derived_step.h and recovered_frame_pointer.h.

#include "symbolize/unwind/rule_step.h"

#include <dwarf.h>

#include <string>

#include "symbolize/unwind/derived_step.h"
#include "symbolize/unwind/frame_pointer_step.h"
#include "symbolize/unwind/recovered_frame_pointer.h"
#include "symbolize/unwind/return_path_step.h"
#include "symbolize/unwind/testing/fake_space.h"

namespace profiler::symbolize {
namespace {

constexpr UnwindRule kFrameOf16{
    .kind = UnwindRule::kFromStackPointer, .return_slot = -1, .cfa_offset = 24};
constexpr UnwindRule kFrameWithFp{
    .kind = UnwindRule::kFromFramePointer, .return_slot = -1, .frame_slot = -2, .cfa_offset = 16};

class RuleStepTest : public StepTest {
 protected:
  std::string Step(const UnwindRule& rule, const ChainFrame& frame,
                   const std::vector<uint64_t>& words) {
    return Text(StepByRule(rule, frame, Stack(words)).caller);
  }
};

TEST_F(RuleStepTest, TheStackPointerLeadsToTheCaller) {
  EXPECT_EQ(Step(kFrameOf16, Caller(InFunction(0), 7), {1, 2, 0x401010}), "401010r sp+24 fp 7");
}

TEST_F(RuleStepTest, TheFramePointerLeadsToTheCallerAndItsFramePointer) {
  EXPECT_EQ(Step(kFrameWithFp, Caller(InFunction(0), kStack + 8), {1, 0x99, 0x401010}),
            "401010r sp+24 fp 99 read");
}

TEST_F(RuleStepTest, TheSlotsOfTheWordsAreReturned) {
  const RuleStep step =
      StepByRule(kFrameWithFp, Caller(InFunction(0), kStack + 8), Stack({1, 0x99, 0x401010}));
  EXPECT_EQ(step.return_slot, kStack + 16);
  EXPECT_EQ(step.frame_slot, kStack + 8);
}

TEST_F(RuleStepTest, ASignalFrameLeadsToAnInterruptedInstruction) {
  UnwindRule rule = kFrameOf16;
  rule.signal_frame = 1;
  EXPECT_EQ(Step(rule, Caller(InFunction(0)), {1, 2, 0x401010}), "401010 sp+24 fp 0");
}

TEST_F(RuleStepTest, APoppedFramePointerIsStillInItsRegister) {
  const UnwindRule rule{
      .kind = UnwindRule::kFromStackPointer, .return_slot = -1, .frame_slot = -2, .cfa_offset = 8};
  EXPECT_EQ(Step(rule, Leaf(InFunction(0), 7), {0x401010}), "401010r sp+8 fp 7");
}

TEST_F(RuleStepTest, AWordThatCannotBeReadEndsTheChain) {
  EXPECT_EQ(Step(kFrameOf16, Caller(InFunction(0)), {1, 2}), "unreadable");
  const UnwindRule segment{
      .kind = UnwindRule::kFromFramePointer, .return_slot = -1, .frame_slot = -3, .cfa_offset = 24};
  EXPECT_EQ(Step(segment, Caller(InFunction(0), kStack + 8), {1, 2}), "stack switch");
}

TEST_F(RuleStepTest, AStackThatDoesNotShrinkEndsTheChain) {
  memory_->SetMemory(kStack - 16, ByteBuilder().U64(1).U64(2));
  EXPECT_EQ(Step(kFrameWithFp, Caller(InFunction(0), kStack - 16), {}), "no progress");
}

TEST_F(RuleStepTest, AFramePointerThatIsNotAlignedEndsTheChain) {
  EXPECT_EQ(Step(kFrameWithFp, Caller(InFunction(0), kStack + 4), {1, 2, 3, 4}), "bad register");
}

TEST_F(RuleStepTest, ALinkRegisterIsUsedOnlyIfItBelongsToTheFrame) {
  Image({}, EM_AARCH64);
  const UnwindRule rule{.kind = UnwindRule::kFromStackPointer};
  ChainFrame frame = Leaf(InFunction(0));
  frame.registers.Set(frame.numbers.return_address, 0x401010);
  EXPECT_EQ(Step(rule, frame, {}), "401010r sp+0 fp 0");
  frame.knows_link = false;
  EXPECT_EQ(Step(rule, frame, {}), "bad register");
}

TEST_F(RuleStepTest, OnAArch64TheSavedPairShowsAFrameWhoseStackPointerIsUnknown) {
  Image({}, EM_AARCH64);
  const UnwindRule rule{
      .kind = UnwindRule::kFromStackPointer, .return_slot = -3, .frame_slot = -4, .cfa_offset = 32};
  ChainFrame frame = Caller(InFunction(0), kStack + 16);
  frame.knows_stack = false;
  EXPECT_EQ(Step(rule, frame, {1, 2, 0x99, 0x401010, 5, 6}), "401010r sp+48 fp 99 read");
  EXPECT_EQ(Step(kFrameOf16, frame, {1, 2, 3}), "bad register");
}

class FramePointerStepTest : public StepTest {};

TEST_F(FramePointerStepTest, TheWordsAtTheFramePointerAreAGuess) {
  EXPECT_EQ(Text(FollowFramePointer(Caller(kJit + 0x10, kStack + 8),
                                    Stack({1, 0x99, InFunction(0)}), *space_)),
            "401010r? sp+24 fp 99");
}

TEST_F(FramePointerStepTest, AWordThatIsNoAddressOfCodeEndsTheChain) {
  EXPECT_EQ(
      Text(FollowFramePointer(Caller(kJit + 0x10, kStack + 8), Stack({1, 0x99, 0x123}), *space_)),
      "no call frame information");
}

TEST_F(FramePointerStepTest, AFramePointerBelowTheStackPointerIsNone) {
  for (const uint64_t fp : {kStack - 8, kStack + 4}) {
    EXPECT_EQ(Text(FollowFramePointer(Caller(kJit + 0x10, fp), Stack({1, 2, 3}), *space_)),
              "no call frame information");
  }
}

TEST_F(FramePointerStepTest, AFrameBehindTheCopyIsTooFar) {
  EXPECT_EQ(Text(FollowFramePointer(Caller(kJit + 0x10, kStack + 16), Stack({1, 2, 3}), *space_)),
            "stack too short");
}

class ReturnPathStepTest : public StepTest {};

TEST_F(ReturnPathStepTest, BeforeItsFirstInstructionAFunctionHasOnlyTheReturnAddress) {
  memory_->SetMemory(kJit + 0x10, ByteBuilder{0x55, 0x48, 0x89, 0xe5}.Pad(32, 0x90));
  CallBefore(InFunction(0));
  const ChainFrame frame = Leaf(kJit + 0x10, 7);
  StackReader& stack = Stack({InFunction(0), 2});
  const auto path = FindReturnPath(frame, stack, *space_);
  ASSERT_TRUE(path);
  EXPECT_EQ(Text(ReturnBy(*path, frame, stack, *space_)), "401010r? sp+8 fp 7");
}

TEST_F(ReturnPathStepTest, APathToAnAddressThatFollowsNoCallIsNone) {
  memory_->SetMemory(kJit + 0x10, ByteBuilder{0x55, 0x48, 0x89, 0xe5}.Pad(32, 0x90));
  NoCallBefore(InFunction(0));
  EXPECT_FALSE(FindReturnPath(Leaf(kJit + 0x10), Stack({InFunction(0)}), *space_));
}

TEST_F(ReturnPathStepTest, ReadsTheFramePointerWhereThePathSaysSo) {
  EXPECT_EQ(Text(ReturnBy({.return_address = 1, .frame_pointer = 0}, Leaf(kJit + 0x10, 7),
                          Stack({0x99, InFunction(0)}), *space_)),
            "401010r? sp+16 fp 99 read");
  EXPECT_EQ(Text(ReturnBy({.return_address = 1}, Leaf(kJit + 0x10), Stack({1}), *space_)),
            "unreadable");
}

TEST_F(ReturnPathStepTest, SearchesTheTopOfTheStackForAnAddressThatFollowsACall) {
  CallBefore(InFunction(0));
  NoCallBefore(InFunction(1));
  const auto path = SearchReturnAddress(Leaf(InFunction(2)),
                                        Stack({1, InFunction(1), InFunction(0), 4}), *space_);
  ASSERT_TRUE(path);
  EXPECT_EQ(path->return_address, 2u);
  EXPECT_FALSE(SearchReturnAddress(Leaf(InFunction(2)),
                                   Stack({0, 1, 2, 3, 4, 5, 6, 7, InFunction(0)}), *space_));
}

// The text section has a function at ELF address 0x100: sub rsp, 16; call; add rsp, 16; ret.
class DerivedStepTest : public StepTest {
 protected:
  static constexpr uint64_t kFunction = 0x100, kBehindCall = 0x109;
  DerivedStepTest() {
    Image({}, EM_X86_64,
          ByteBuilder{0x48, 0x83, 0xec, 0x10, 0xe8, 1, 0, 0, 0, 0x48, 0x83, 0xc4, 0x10, 0xc3});
  }
  std::string Find(const std::vector<uint64_t>& words) {
    const auto step =
        FindDerivedStep(Caller(kCode + kBehindCall), {kBehindCall - 1}, Stack(words), *space_);
    if (!step) return "none";
    return absl::StrCat("cfa ", step->rule.cfa_offset,
                        step->origin == FrameOrigin::kCfi ? " proven" : " guessed");
  }
};

TEST_F(DerivedStepTest, ACallerThatMayCallTheFunctionProvesTheRule) {
  memory_->SetMemory(InFunction(0) - 8, {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0});
  EXPECT_EQ(Find({1, 2, InFunction(0)}), "cfa 24 proven");
}

TEST_F(DerivedStepTest, ACallerThatCallsAnotherFunctionProvesNothing) {
  CallBefore(InFunction(0));
  EXPECT_EQ(Find({1, 2, InFunction(0)}), "cfa 24 guessed");
}

TEST_F(DerivedStepTest, ARuleThatLeadsToNoReturnAddressIsNone) {
  NoCallBefore(InFunction(0));
  EXPECT_EQ(Find({1, 2, InFunction(0)}), "none");
}

TEST_F(DerivedStepTest, AnAddressThatWasNotCopiedIsNotChecked) {
  EXPECT_EQ(Find({1, 2}), "cfa 24 guessed");
}

TEST_F(DerivedStepTest, CodeWithoutAnImageHasNoRule) {
  EXPECT_FALSE(FindDerivedStep(Caller(kJit + 0x10), {}, Stack({}), *space_));
}

class RecoveredFramePointerTest : public StepTest {
 protected:
  // push rbp; mov rbp, rsp; push rbx; sub rsp, 24; call
  RecoveredFramePointerTest() {
    Image({{DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
            DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6}});
    ByteBuilder code{0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x18, 0xe8, 0, 0, 0, 0, 0xc3};
    memory_->SetMemory(InFunction(0, 0), code.Pad(0x100, 0x90));
  }
  std::optional<uint64_t> Recover(const std::vector<uint64_t>& words) {
    return RecoverFramePointer(kFrameWithFp, Caller(InFunction(0, 14)), {0x1000 + 13}, Stack(words),
                               *space_);
  }
};

TEST_F(RecoveredFramePointerTest, TheInstructionsShowItIfAReturnAddressIsThere) {
  CallBefore(InFunction(2));
  EXPECT_EQ(Recover({1, 2, 3, 4, 5, InFunction(2)}), kStack + 32);
}

TEST_F(RecoveredFramePointerTest, WithoutAReturnAddressThereItIsUnknown) {
  NoCallBefore(InFunction(2));
  EXPECT_EQ(Recover({1, 2, 3, 4, 5, InFunction(2)}), std::nullopt);
  EXPECT_EQ(Recover({1, 2}), std::nullopt);
}

}  // namespace
}  // namespace profiler::symbolize
