// Tests the parts of the walk that decide which rule or caller is used: known_steps.h,
// rule_finder.h, full_step_check.h, managed_step.h and exception_handover.h.

#include <dwarf.h>

#include <string>

#include "symbolize/unwind/exception_handover.h"
#include "symbolize/unwind/full_step_check.h"
#include "symbolize/unwind/known_steps.h"
#include "symbolize/unwind/managed_step.h"
#include "symbolize/unwind/rule_finder.h"
#include "symbolize/unwind/testing/fake_space.h"

namespace profiler::symbolize {
namespace {

const ByteBuilder kFrameOf16{DW_CFA_def_cfa_offset, 24};
// Saves rdx and rax, which carry an exception, and rbp.
const ByteBuilder kThrows{DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 6, 2,
                          DW_CFA_offset | 0,     3,  DW_CFA_offset | 1, 4};

constexpr uint64_t kSpace = 1;
constexpr KnownStep kInner{.pc = 1, .sp = 8, .fp = 0, .return_slot = 16, .caller_sp = 24};
constexpr KnownStep kOuter{.pc = 2, .sp = 24, .fp = 0, .return_slot = 32, .caller_sp = 40};

// Runs a chain of two steps, so that the next chain knows them.
void RunChain(KnownSteps& steps) {
  steps.Start(kSpace, 0);
  steps.Add(kInner);
  steps.Add(kOuter);
  steps.Finish();
}

TEST(KnownStepsTest, TheNextChainRepeatsTheStepsOfTheLastOne) {
  KnownSteps steps;
  RunChain(steps);
  for (int chain = 0; chain < 2; ++chain) {
    steps.Start(kSpace, 0);
    ASSERT_NE(steps.Find(1, 8, 0), nullptr);
    steps.Repeat();
    ASSERT_NE(steps.Find(2, 24, 0), nullptr);
    EXPECT_EQ(steps.Find(2, 24, 0)->return_slot, 32u);
    steps.Repeat();
    EXPECT_EQ(steps.Find(3, 40, 0), nullptr);
    steps.Finish();
  }
}

TEST(KnownStepsTest, AFrameWithOtherRegistersHasNoKnownStep) {
  KnownSteps steps;
  RunChain(steps);
  steps.Start(kSpace, 0);
  EXPECT_EQ(steps.Find(9, 8, 0), nullptr);
  EXPECT_EQ(steps.Find(1, 8, 9), nullptr);
  EXPECT_EQ(steps.Find(2, 16, 0), nullptr);
  EXPECT_NE(steps.Find(2, 24, 0), nullptr);
}

TEST(KnownStepsTest, AnotherSpaceHasNoKnownSteps) {
  KnownSteps steps;
  RunChain(steps);
  for (const uint64_t space : {kSpace + 1, uint64_t{0}}) {
    steps.Start(space, 0);
    EXPECT_EQ(steps.Find(1, 8, 0), nullptr);
    steps.Finish();
  }
}

class RuleFinderTest : public StepTest {
 protected:
  // The CFA's offset changes at byte 0x20 of function 0.
  RuleFinderTest() { Image({{DW_CFA_advance_loc | 0x20, DW_CFA_def_cfa_offset, 24}, {}}); }
  UnwindRule Find(uint64_t pc, bool is_return_address) {
    MappedCode mapped;
    EXPECT_TRUE(space_->Find({pc}, &mapped));
    RuleFinder finder(cache_, *space_);
    return finder.Find(mapped, {pc - kCode - (is_return_address ? 1 : 0)}, is_return_address);
  }

  RuleCache cache_;
};

TEST_F(RuleFinderTest, AReturnAddressHasTheRuleOfItsCall) {
  CallBefore(InFunction(0, 0x20));
  EXPECT_EQ(Find(InFunction(0, 0x20), true).cfa_offset, 8);
  EXPECT_EQ(Find(InFunction(0, 0x20), false).cfa_offset, 24);
}

TEST_F(RuleFinderTest, AReturnAddressAfterNoCallHasTheRuleOfTheNextInstruction) {
  NoCallBefore(InFunction(0, 0x20));
  const UnwindRule rule = Find(InFunction(0, 0x20), true);
  EXPECT_EQ(rule.cfa_offset, 24);
  EXPECT_EQ(rule.not_called, 1u);
}

TEST_F(RuleFinderTest, AStackBeginsAtAFunctionThatNeverReturns) {
  const uint64_t start = InFunction(1, 0);
  NoCallBefore(start);
  memory_->SetMemory(start, ByteBuilder{0xeb, 0xfe}.Pad(0x100, 0x90));
  const UnwindRule rule = Find(start, true);
  EXPECT_EQ(rule.kind, UnwindRule::kThreadStart);
  EXPECT_EQ(rule.not_called, 1u);
}

TEST_F(RuleFinderTest, ARuleIsFoundOnceAndThenCached) {
  NoCallBefore(InFunction(0, 0x20));
  EXPECT_EQ(Find(InFunction(0, 0x20), true).not_called, 1u);
  CallBefore(InFunction(0, 0x20));
  EXPECT_EQ(Find(InFunction(0, 0x20), true).not_called, 1u);
}

TEST_F(RuleFinderTest, OnAArch64AnInterruptedReturnHasNoFrame) {
  Image({{}}, EM_AARCH64);
  const UnwindRule told{
      .kind = UnwindRule::kFromStackPointer, .return_slot = -1, .frame_slot = -2, .cfa_offset = 16};
  const uint64_t pc = InFunction(0);
  MappedCode mapped;
  ASSERT_TRUE(space_->Find({pc}, &mapped));
  memory_->SetMemory(pc, ByteBuilder().U32(0xd65f03c0));  // ret
  EXPECT_EQ(MendInterruptedRule(told, {pc}, mapped, {pc - kCode}, *space_).return_slot, 0);
  memory_->SetMemory(pc, ByteBuilder().U32(0xd503201f));  // nop
  EXPECT_EQ(MendInterruptedRule(told, {pc}, mapped, {pc - kCode}, *space_), told);
}

class FullStepCheckTest : public StepTest {
 protected:
  // Returns the reason against a caller with stack pointer `sp`.
  std::string Refuse(const FrameRules& rules, uint64_t sp) {
    ChainFrame frame = Caller(InFunction(0));
    RegisterSet caller = frame.registers;
    caller.Set(frame.numbers.sp, sp);
    const auto end = RefuseCaller(rules, frame, caller, Stack({1, 2, 3, 4}));
    return end ? std::string(ChainEndName(*end)) : "none";
  }
  static FrameRules Rules(uint8_t cfa_register) {
    FrameRules rules;
    rules.cfa = {.kind = CfaRule::kRegister, .number = cfa_register};
    rules.return_address = 16;
    rules.registers[16].kind = RegisterRule::kOffset;
    return rules;
  }
};

TEST_F(FullStepCheckTest, ACallerIsFurtherOut) {
  EXPECT_EQ(Refuse(Rules(7), kStack + 16), "none");
  EXPECT_EQ(Refuse(Rules(7), kStack), "no progress");
  EXPECT_EQ(Refuse(Rules(7), kStack - 16), "no progress");
  EXPECT_EQ(Refuse(Rules(7), kStack + 4), "bad register");
}

TEST_F(FullStepCheckTest, AFrameWithoutAnythingOnTheStackMayEndWhereItBegins) {
  FrameRules rules = Rules(7);
  rules.registers[16].kind = RegisterRule::kRegister;
  EXPECT_EQ(Refuse(rules, kStack), "none");
}

TEST_F(FullStepCheckTest, OnlyAStackPointerInAnotherRegisterLeadsToAnotherStack) {
  EXPECT_EQ(Refuse(Rules(3), kStack - (uint64_t{1} << 20)), "none");
  EXPECT_EQ(Refuse(Rules(6), kStack - (uint64_t{1} << 20)), "no progress");
}

TEST_F(FullStepCheckTest, TheCallerOfASignalFrameMayBeAnywhere) {
  FrameRules rules = Rules(7);
  rules.signal_frame = true;
  EXPECT_EQ(Refuse(rules, kStack - 16), "none");
}

class FakeMachine : public ManagedCode {
 public:
  ManagedStep StepFrom(const ManagedFrame&, MemoryReader& stack) override {
    uint64_t word = 0;
    if (reads_late) stack.ReadWord(kStack + 64, &word);
    return step;
  }
  ManagedStep step;
  bool reads_late = false;
};

class ManagedStepTest : public StepTest {
 protected:
  std::string Step() {
    return Text(StepByMachine(&machine_, Caller(kJit + 0x10), Stack({1, 2})).caller);
  }
  FakeMachine machine_;
};

TEST_F(ManagedStepTest, TheMachineKnowsTheCaller) {
  machine_.step = {.kind = ManagedStep::Kind::kCaller, .pc = 0x401010, .sp = kStack + 16};
  EXPECT_EQ(Step(), "401010r sp+16 fp 0");
  machine_.step.is_guessed = true;
  machine_.step.fp = 7;
  EXPECT_EQ(Step(), "401010r? sp+16 fp 7 read");
}

TEST_F(ManagedStepTest, AnImplausibleStackPointerEndsTheChain) {
  machine_.step = {.kind = ManagedStep::Kind::kCaller, .pc = 0x401010, .sp = kStack};
  EXPECT_EQ(Step(), "no progress");
  machine_.step.sp = kStack + 4;
  EXPECT_EQ(Step(), "bad register");
}

TEST_F(ManagedStepTest, MemoryThatWasReadInVainDoesNotCountAsLate) {
  memory_->SetMemory(kStack + 64, ByteBuilder().U64(1));
  machine_.reads_late = true;
  StackReader& stack = Stack({});
  EXPECT_EQ(Text(StepByMachine(&machine_, Caller(kJit + 0x10), stack).caller), "none");
  EXPECT_FALSE(stack.is_late());
}

TEST_F(ManagedStepTest, AnImageIsNoCodeOfAMachine) {
  machine_.step = {.kind = ManagedStep::Kind::kLost};
  EXPECT_EQ(Text(StepByMachine(&machine_, Caller(InFunction(0)), Stack({})).caller), "none");
  EXPECT_EQ(Text(StepByMachine(nullptr, Caller(kJit), Stack({})).caller), "none");
}

class ExceptionHandoverTest : public StepTest {
 protected:
  ExceptionHandoverTest() {
    Image({kThrows, kFrameOf16});
    chain_.frames.push_back({{InFunction(0)}, kStack});
    chain_.frames.push_back({{InFunction(1)}, kStack + 32, FrameOrigin::kCfi, true});
    chain_.end = ChainEnd::kBadReturnAddress;
  }
  std::string Find(const std::vector<uint64_t>& words) {
    const auto caught = FindCatchingFrame(chain_, 8, rules_, Stack(words), *space_);
    return caught ? absl::StrCat("keeps ", caught->kept, ": ", Text(caught->caller)) : "none";
  }

  UnwoundChain chain_;
  FullRuleLookup rules_{1};
};

TEST_F(ExceptionHandoverTest, OnlyAFunctionThatSavesBothRegistersHandsOver) {
  EXPECT_TRUE(HandsOver({InFunction(0)}, rules_, *space_));
  EXPECT_FALSE(HandsOver({InFunction(1)}, rules_, *space_));
  EXPECT_FALSE(HandsOver({kJit}, rules_, *space_));
}

TEST_F(ExceptionHandoverTest, TheCatchingFrameBeginsBehindTheCopyOfItsReturnAddress) {
  EXPECT_EQ(Find({1, 2, 0x77, InFunction(1), 4, InFunction(1), 6}),
            "keeps 1: 402010r? sp+48 fp 77 read");
}

TEST_F(ExceptionHandoverTest, WithoutThatCopyNothingIsKnown) {
  EXPECT_EQ(Find({1, 2, 0x77, InFunction(1), 4, 5, 6}), "none");
}

TEST_F(ExceptionHandoverTest, AChainThatIsNotLostStays) {
  chain_.end = ChainEnd::kStackTooShort;
  EXPECT_EQ(Find({1, 2, 0x77, InFunction(1), 4, InFunction(1), 6}), "none");
}

}  // namespace
}  // namespace profiler::symbolize
