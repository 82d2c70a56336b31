#include "symbolize/unwind/unwinder.h"

#include <dwarf.h>

#include <algorithm>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/unwind/managed_code.h"
#include "symbolize/unwind/testing/cfi_builder.h"
#include "symbolize/unwind/testing/fake_space.h"
#include "symbolize/unwind/testing/unwinder_fixture.h"

namespace profiler::symbolize {
namespace {

const ByteBuilder kThreadStart{DW_CFA_undefined, 16};
const ByteBuilder kFrameOf16{DW_CFA_def_cfa_offset, 24};
const ByteBuilder kPushedFp{DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2};

TEST_F(UnwinderTest, FollowsStackPointersToTheThreadsStart) {
  Functions({{}, kFrameOf16, kThreadStart});
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(1), 1, 2, InFunction(2)}),
            "401010 402010r 403010r thread start");
  EXPECT_TRUE(chain_.whole());
  EXPECT_EQ(chain_.frames[1].stack_pointer, kStack + 8);
  EXPECT_EQ(chain_.frames[2].stack_pointer, kStack + 32);
  EXPECT_EQ(chain_.frames[2].origin, FrameOrigin::kCfi);
}

// makecontext puts the start of a function before a coroutine's first frame.
TEST_F(UnwinderTest, TheStartOfAFunctionThatNeverReturnsIsWhereAStackBegins) {
  Functions({{}, kFrameOf16, {}});
  const uint64_t start = InFunction(1, 0);
  space_->SetMemory(start - 8, ByteBuilder{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3});
  // je; call; jmp to itself; call; hlt
  ByteBuilder code{0x74, 7, 0xe8, 0, 0, 0, 0, 0xeb, 0xfe, 0xe8, 0, 0, 0, 0, 0xf4};
  space_->SetMemory(start, code.Pad(0x100, 0x90));
  EXPECT_EQ(Unwind(InFunction(0), {start, 1, 2, InFunction(2)}), "401010 402000 thread start");
  unwinder_ = Unwinder(nullptr);  // discards its caches
  space_->SetMemory(start + 14, ByteBuilder{0xc3});
  EXPECT_EQ(Unwind(InFunction(0), {start, 1, 2, InFunction(2)}), "401010 bad return address");
  unwinder_ = Unwinder(nullptr);
  space_->SetMemory(start - 5, ByteBuilder{0xe8, 0, 0, 0, 0});
  EXPECT_NE(Unwind(InFunction(0), {start, 1, 2, InFunction(2)}), "401010 402000 thread start");
}

// A wrong rule takes a pointer to code for a return address.
TEST_F(UnwinderTest, AnAddressOfCodeThatFollowsNoCallIsNoCaller) {
  Functions({{}, {}, kThreadStart});
  space_->identity = 1;
  for (const uint64_t address : {InFunction(1, 0x20), InFunction(0, 0x20)}) {
    space_->SetMemory(address - 8, ByteBuilder{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3});
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(Unwind(InFunction(0), {address, InFunction(2)}), "401010 bad return address");
      EXPECT_EQ(Unwind(InFunction(0), {InFunction(1), address}),
                "401010 402010r bad return address");
    }
  }
}

// Boost's make_fcontext makes a coroutine's first function return to code like this, which has no
// call frame information.
TEST_F(UnwinderTest, CodeThatEndsTheProgramAndThatNothingCallsBeforeIsWhereAStackBegins) {
  Functions({{}});
  registers_.Set(6, 1);  // no frame pointer
  const ByteBuilder ends{0xc3, 0x48, 0x31, 0xff, 0xe8, 1, 2, 3, 4, 0xf4};
  space_->SetMemory(kCode + 0x500, ByteBuilder{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90});
  space_->SetMemory(kCode + 0x507, ends);
  for (uint64_t i = 0; i < 32; ++i) {
    space_->SetMemory(kCode + 0x507 + ends.size() + i, ByteBuilder{0x90});
  }
  EXPECT_EQ(Unwind(InFunction(0), {kCode + 0x508, 1, 2}), "401010 400508r thread start");
  // Now the code follows a call.
  space_->SetMemory(kCode + 0x503, ByteBuilder{0xe8, 1, 2, 3, 4});
  EXPECT_NE(Unwind(InFunction(0), {kCode + 0x508, 1, 2}), "401010 400508r thread start");
  // Now the code returns.
  space_->SetMemory(kCode + 0x503, ByteBuilder{0x90, 0x90, 0x90, 0x90, 0x90});
  space_->SetMemory(kCode + 0x510, ByteBuilder{0xc3});
  EXPECT_NE(Unwind(InFunction(0), {kCode + 0x508, 1, 2}), "401010 400508r thread start");
}

TEST_F(UnwinderTest, AFileThatWasOverwrittenEndsTheChain) {
  Functions({{}, kFrameOf16, kThreadStart});
  registers_.Set(6, kStack + 8);
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(2)}), "401010 403010r thread start");
  has_changed_ = true;
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(1), 1, InFunction(2)}),
            "401010 402010r file changed");
}

TEST_F(UnwinderTest, AFunctionOfWhichTooMuchIsSaidEndsTheChain) {
  ByteBuilder too_much;
  for (size_t i = 0; i <= 1 << 18; ++i) too_much.U8(DW_CFA_nop);
  Functions({{}, too_much, kThreadStart});
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(1), InFunction(2)}),
            "401010 402010r call frame information too long");
  EXPECT_EQ(chain_.end_image, 7u);
}

// The function has many instructions without effect, and then a CFA that needs full rules.
TEST_F(UnwinderTest, OneLongFunctionIsNotEvaluatedForEachOfItsFrames) {
  ByteBuilder code;
  for (int i = 0; i < 100000; ++i) code.U8(DW_CFA_nop);
  for (int i = 0; i < 63; ++i) code.U8(DW_CFA_advance_loc | 1);
  code.Bytes({DW_CFA_def_cfa_expression, 2, DW_OP_breg0 + 7, 8});
  code.Bytes({DW_CFA_advance_loc | 1});
  for (int i = 0; i < 63; ++i) code.U8(DW_CFA_advance_loc | 1);
  Functions({code, kThreadStart});
  std::vector<uint64_t> stack;
  for (uint64_t i = 1; i < 32; ++i) stack.push_back(InFunction(0, 0x40 + i));
  stack.push_back(InFunction(1));
  Unwind(InFunction(0, 0x40), stack);
  EXPECT_EQ(ChainEndName(chain_.end), "call frame information too long");
  EXPECT_EQ(chain_.frames.size(), 13u);
  // Results are cached, so later chains get further.
  for (int i = 0; i < 400; ++i) Unwind(InFunction(0, 0x40), stack);
  EXPECT_EQ(ChainEndName(chain_.end), "thread start");
}

TEST_F(UnwinderTest, ExpressionsOfAChainTakeSoManySteps) {
  ByteBuilder expression{DW_OP_breg0 + 7, 8};
  for (int i = 0; i < 998; ++i) expression.U8(DW_OP_nop);
  Functions({ByteBuilder{DW_CFA_def_cfa_expression}.Block(expression), kThreadStart});
  std::vector<uint64_t> stack(30, InFunction(0));
  stack.push_back(InFunction(1));
  Unwind(InFunction(0), stack);
  EXPECT_EQ(ChainEndName(chain_.end), "call frame information too long");
  EXPECT_EQ(chain_.frames.size(), 17u);
  stack.assign(10, InFunction(0));
  stack.push_back(InFunction(1));
  Unwind(InFunction(0), stack);
  EXPECT_EQ(ChainEndName(chain_.end), "thread start");
}

TEST_F(UnwinderTest, FollowsFramePointers) {
  Functions({kPushedFp, kPushedFp, kThreadStart});
  registers_.Set(6, kStack + 8);
  EXPECT_EQ(Unwind(InFunction(0), {0, kStack + 32, InFunction(1), 0, 0x99, InFunction(2)}),
            "401010 402010r 403010r thread start");
  EXPECT_EQ(chain_.registers.fp(), 0x99u);
}

// A function with a frame pointer: push rbp; mov rbp, rsp; push rbx; sub rsp, 24; call.
const ByteBuilder kFramed{0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec,
                          0x18, 0xe8, 0,    0,    0,    0,    0xc3};
constexpr uint64_t kBehindCall = 14;
// A function that reserves rax bytes: push rbp; mov rbp, rsp; sub rsp, rax; call.
const ByteBuilder kFramedByAmount{0x55, 0x48, 0x89, 0xe5, 0x48, 0x29, 0xc4,
                                  0x90, 0x90, 0xe8, 0,    0,    0,    0};
// Call frame information for both functions.
const ByteBuilder kFramedRules{
    DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset,   16, DW_CFA_offset | 6, 2,
    DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6};
const ByteBuilder kCallBefore{0xe8, 0, 0, 0, 0};

TEST_F(UnwinderTest, AFramePointerThatIsNotKnownIsFoundByTheFunctionsInstructions) {
  Functions({{}, kFramedRules, kThreadStart});
  ForgetFramePointer();
  ByteBuilder code = kFramed;
  while (code.size() < 0x100) code.U8(0x90);
  space_->SetMemory(InFunction(1, 0), code);
  space_->SetMemory(InFunction(2) - 8, ByteBuilder{0x90, 0x90, 0x90});
  space_->SetMemory(InFunction(2) - 5, kCallBefore);
  EXPECT_EQ(Unwind(InFunction(0),
                   {InFunction(1, kBehindCall), 1, 2, 3, 4, /*fp=*/kStack + 512, InFunction(2)}),
            "401010 40200er 403010r? thread start");
}

TEST_F(UnwinderTest, AFramePointerThatIsNotKnownEndsTheChainWhereTheStackPointerIsNotKnownEither) {
  Functions({{}, kFramedRules, kThreadStart});
  ForgetFramePointer();
  ByteBuilder code = kFramedByAmount;
  while (code.size() < 0x100) code.U8(0x90);
  space_->SetMemory(InFunction(1, 0), code);
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(1, kBehindCall), InFunction(2), InFunction(2)}),
            "401010 40200er bad register");
}

TEST_F(UnwinderTest, AFramePointerThatIsNotKnownIsNoThreadsStart) {
  Functions({{}, kThreadStart});
  ForgetFramePointer();
  EXPECT_EQ(Unwind(InFunction(0), {kJit + 0x10, 1, 2}), "401010 900010r bad register");
}

TEST_F(UnwinderTest, AFramePointerIsKnownAgainBehindAFrameThatHasSavedIt) {
  Functions({{DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2}, kPushedFp, kThreadStart});
  ForgetFramePointer();
  EXPECT_EQ(Unwind(InFunction(0), {kStack + 24, InFunction(1), 1, 2, InFunction(2)}),
            "401010 402010r 403010r thread start");
}

TEST_F(UnwinderTest, AReturnAddressOfZeroAloneProvesNothing) {
  Functions({{}});
  EXPECT_EQ(Unwind(InFunction(0), {0}), "401010 no return address");
  EXPECT_FALSE(chain_.whole());
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(0), 0}), "401010 401010r no return address");
}

// The stacks of fibers in Ruby and D end with a return address of 0.
TEST_F(UnwinderTest, AReturnAddressOfZeroAtTheEndOfTheStackIsTheThreadsStart) {
  Functions({{}});
  stack_ends_ = true;
  EXPECT_EQ(Unwind(InFunction(0), {0}), "401010 thread start");
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(0), 0, 1, 2, 3}), "401010 401010r thread start");
  EXPECT_EQ(Unwind(InFunction(0), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), "401010 no return address");
}

// The kernel jumps to the entry point. Here that is a C function, and call frame information does
// not say that it has no caller.
TEST_F(UnwinderTest, NothingCallsTheFunctionAtTheEntryPoint) {
  Functions({{}, {}}, {}, EM_X86_64, {}, /*entry=*/0x1000);
  for (const uint64_t arguments : {0, 1, 3}) {
    EXPECT_EQ(Unwind(InFunction(0), {arguments, kStack + 800, 0}), "401010 thread start");
    EXPECT_EQ(Unwind(InFunction(1), {InFunction(0), arguments}), "402010 401010r thread start");
  }
  EXPECT_EQ(Unwind(InFunction(1), {1}), "402010 bad return address");
}

// An example is a signal for the call of a null pointer.
TEST_F(UnwinderTest, WhatASignalInterruptedAtZeroIsNoThreadsStart) {
  Functions({{}});
  const uint64_t restorer = kCode + 0x500;
  space_->SetMemory(restorer, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05});
  std::vector<uint64_t> stack(40);
  stack[0] = restorer;
  stack[1 + 5 + 15] = kStack + 8 * 30;  // rsp
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 400500 no return address");
}

TEST_F(UnwinderTest, ACallerIsLookedUpInItsCall) {
  // The call is the last instruction of function 0, so the return address is after its end.
  Functions({{}, kThreadStart});
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(0, 0x100), InFunction(1)}),
            "401010 401100r 402010r thread start");
}

TEST_F(UnwinderTest, ATableOfLinkagesPushesInEachEntry) {
  ByteBuilder linkage{DW_CFA_def_cfa_expression};
  linkage.Block({DW_OP_breg0 + 7, 8, DW_OP_breg0 + 16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
                 DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus});
  Functions({linkage, kThreadStart});
  EXPECT_EQ(Unwind(InFunction(0, 0x2a), {InFunction(1), 0}), "40102a 402010r thread start");
  EXPECT_EQ(Unwind(InFunction(0, 0x2b), {5, InFunction(1)}), "40102b 402010r thread start");
}

TEST_F(UnwinderTest, ARealignedFrameSaysWhereItsCallersStackIs) {
  Functions({{DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + 6, 0x78, DW_OP_deref, DW_CFA_expression,
              6, 2, DW_OP_breg0 + 6, 0},
             kThreadStart});
  registers_.Set(6, kStack + 8);
  EXPECT_EQ(Unwind(InFunction(0), {kStack + 32, 0x77, 0, InFunction(1)}),
            "401010 402010r thread start");
  EXPECT_EQ(chain_.registers.fp(), 0x77u);
}

// In OCaml 5, calls between OCaml and C switch to another stack, which may be above or below.
TEST_F(UnwinderTest, WhereTheCallerIsOnAnotherStackAnExpressionFindsIt) {
  const ByteBuilder word_above{DW_CFA_def_cfa_expression, 5, DW_OP_breg0 + 7, 8, DW_OP_deref,
                               DW_OP_plus_uconst,         8};
  Functions({word_above, kThreadStart});
  for (const uint64_t other : {kStack - 0x100000, kStack + 0x10000000}) {
    EXPECT_EQ(Unwind(InFunction(0), {0, other}), "401010 stack switch");
    EXPECT_EQ(chain_.frames.size(), 1u);
    space_->SetMemory(other, ByteBuilder().U64(InFunction(1)));
    EXPECT_EQ(Unwind(InFunction(0), {0, other}), "401010 402010r* thread start");
  }
  space_->SetMemory(kStack - 8, ByteBuilder().U64(InFunction(1)));
  EXPECT_EQ(Unwind(InFunction(0), {0, kStack - 8}), "401010 no progress");
}

TEST_F(UnwinderTest, OrARegisterThatKeepsIt) {
  const uint64_t other = kStack - 0x100000;
  Functions({{DW_CFA_def_cfa, 3, 8}, kThreadStart});
  registers_.Set(3, other);
  EXPECT_EQ(Unwind(InFunction(0), {}), "401010 stack switch");
  space_->SetMemory(other, ByteBuilder().U64(InFunction(1)));
  EXPECT_EQ(Unwind(InFunction(0), {}), "401010 402010r* thread start");
}

TEST_F(UnwinderTest, APoppedFramePointerIsInItsRegister) {
  // In the epilogue the rule still names the slot below the stack pointer.
  Functions({{DW_CFA_offset | 6, 2}, kPushedFp, kThreadStart});
  registers_.Set(6, kStack + 8);
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(1), 0x55, InFunction(2)}),
            "401010 402010r 403010r thread start");
}

TEST_F(UnwinderTest, ReturnAddressesMayBeInOtherRegisters) {
  Functions({{DW_CFA_def_cfa_offset, 0, DW_CFA_register, 16, 5}, kThreadStart});  // like vfork
  registers_.Set(5, InFunction(1));
  EXPECT_EQ(Unwind(InFunction(0), {}), "401010 402010r thread start");
}

TEST_F(UnwinderTest, FollowsAllRegistersWhereARuleAsksForThem) {
  // Function 0 saves rbx, on which function 1's CFA is based.
  Functions(
      {{DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 3, 2}, {DW_CFA_def_cfa, 3, 8}, kThreadStart});
  EXPECT_EQ(Unwind(InFunction(0), {kStack + 24, InFunction(1), 0, InFunction(2)}),
            "401010 402010r 403010r thread start");
}

TEST_F(UnwinderTest, AnInterruptedFrameIsLookedUpAtItsAddress) {
  // Function 0 is the return from a signal handler, which interrupted the first instruction of
  // function 2. One byte before that instruction there is no function.
  ByteBuilder signal{DW_CFA_def_cfa_expression, 4, DW_OP_breg0 + 7};
  signal.Sleb(32 + 64).U8(DW_OP_deref).U8(DW_CFA_expression).U8(16).U8(2);
  signal.U8(DW_OP_breg0 + 7).U8(8);
  Functions({signal, {}, {}, kThreadStart}, {.augmentation = "zRS"});
  std::vector<uint64_t> stack(20);
  stack[1] = InFunction(2, 0);
  stack[12] = kStack + 104;
  stack[13] = InFunction(3);
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 403000 404010 thread start");
}

TEST_F(UnwinderTest, RecognizesTheReturnFromASignalByItsCode) {
  Functions({{}, kThreadStart});
  const uint64_t restorer = kCode + 0x500;
  space_->SetMemory(restorer, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05});
  std::vector<uint64_t> stack(40);
  stack[0] = restorer;
  stack[1 + 5 + 15] = kStack + 8 * 30;   // rsp
  stack[1 + 5 + 16] = InFunction(0, 0);  // rip
  stack[30] = InFunction(1);
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 400500 401000* 402010r thread start");
}

// Saves the registers that carry an exception, as only throwing functions do.
const ByteBuilder kThrows{DW_CFA_def_cfa,    6, 16, DW_CFA_offset | 6, 2, DW_CFA_offset | 0, 3,
                          DW_CFA_offset | 1, 4};

TEST_F(UnwinderTest, CodeThatCatchesAnExceptionIsNoReturnAddress) {
  // The code before function 1's byte 0x20 is the end of another path.
  Functions({kThrows, {DW_CFA_advance_loc | 0x20, DW_CFA_def_cfa_offset, 24}, kThreadStart});
  registers_.Set(6, kStack + 16);
  const std::vector<uint64_t> stack = {
      1, 2, 0x77, InFunction(1, 0x20), InFunction(2), 0, InFunction(2, 0x20)};
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 402020r 403010r thread start");
  unwinder_ = Unwinder(nullptr);  // discards its caches
  space_->SetMemory(InFunction(1, 0x18), {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3});
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 402020 403020r thread start");
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 402020 403020r thread start");  // cached
  unwinder_ = Unwinder(nullptr);
  space_->SetMemory(InFunction(1, 0x1b), {0xe8, 1, 0, 0, 0});
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 402020r 403010r thread start");
}

// The throwing function has overwritten its saved registers with the catching function's registers.
TEST_F(UnwinderTest, AnExceptionThatIsHandedOverLeadsToTheFunctionThatCatches) {
  Functions({kThrows, kFrameOf16, kThreadStart});
  registers_.Set(6, kStack + 16);
  const uint64_t call = InFunction(1), other = InFunction(1, 0x40), handler = InFunction(1, 0x80);
  const std::string caught = "401010 402010r? 403010r thread start";
  // First comes the frame of the throwing function: rdx, rax, rbp, return address. Then come the
  // frames that are dropped; they contain the return address into the catching function. Last comes
  // the frame of the catching function.
  std::vector<uint64_t> stack = {1, 2, 0x77, call, 1, other, 3, call, 4, 5, InFunction(2)};
  EXPECT_EQ(Unwind(InFunction(0), stack), caught);
  EXPECT_EQ(chain_.frames[1].stack_pointer, kStack + 64);
  EXPECT_EQ(chain_.registers.fp(), 0x77u);
  EXPECT_EQ(chain_.guessed, 1u);

  // Finally the return address leads to the landing pad. Other calls of the function do not count.
  stack[7] = handler;
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 402010r bad return address");
  space_->SetMemory(other - 8, {0, 0, 0, 0xe8, 0, 0, 0, 0});
  space_->SetMemory(handler - 8, {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90});
  EXPECT_EQ(Unwind(InFunction(0), stack), caught);
  stack[7] = 7;
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 402010r bad return address");
  EXPECT_EQ(chain_.guessed, 0u);
}

TEST_F(UnwinderTest, AChainOfWhatThrowsIsRightAsFarAsItGoes) {
  Functions({kThrows, kFrameOf16, kThreadStart});
  registers_.Set(6, kStack + 16);
  const uint64_t call = InFunction(1);
  // The caller's frame still has a word from an earlier call.
  EXPECT_EQ(Unwind(InFunction(0), {1, 2, 0x77, call, 1, call}), "401010 402010r stack too short");
  const std::vector<uint64_t> whole = {1, 2, 0x77, call, 1, call, InFunction(2)};
  EXPECT_EQ(Unwind(InFunction(0), whole, {.max_frames = 2}), "401010 402010r too deep");
  EXPECT_EQ(Unwind(InFunction(0), whole), "401010 402010r 403010r thread start");
}

TEST_F(UnwinderTest, GuessesByFramePointerWhereThereIsNoRule) {
  Functions({{}, kPushedFp, kThreadStart});
  registers_.Set(6, kStack + 8);
  EXPECT_EQ(Unwind(kJit + 0x10, {0, kStack + 32, InFunction(1), 0, 0, InFunction(2)}),
            "900010 402010r? 403010r thread start");
  EXPECT_EQ(chain_.guessed, 1u);
  EXPECT_EQ(Unwind(kJit + 0x10, {0, kStack + 32, InFunction(1)}, {.frame_pointers = false}),
            "900010 no call frame information");
}

TEST_F(UnwinderTest, DoesNotGuessWhatIsNoReturnAddress) {
  Functions({{}});
  registers_.Set(6, kStack + 8);
  EXPECT_EQ(Unwind(kJit, {0, kStack + 16, 0x1234}), "900000 no call frame information");
  registers_.Set(6, kStack + 4);
  EXPECT_EQ(Unwind(kJit, {0, kStack + 16, InFunction(0)}), "900000 no call frame information");
  registers_.Set(6, kStack - 8);
  EXPECT_EQ(Unwind(kJit, {0, kStack + 16, InFunction(0)}), "900000 no call frame information");
  EXPECT_EQ(chain_.end_image, 8u);
}

// The bytes before a return address: they end with a call.
const ByteBuilder kCall{0, 0, 0, 0xe8, 0, 0, 0, 0};

TEST_F(UnwinderTest, AnInterruptedFunctionThatHasNoFrameYetKeepsItsCaller) {
  Functions({kThreadStart});
  constexpr uint64_t kCaller = kJit + 0x80;
  space_->SetMemory(kCaller - 8, kCall);
  registers_.Set(6, kStack + 24);  // rbp points to the caller's frame
  const std::vector<uint64_t> at_entry = {kCaller, 1, 2, 0x99, InFunction(0)};
  const std::vector<uint64_t> after_push = {kStack + 24, kCaller, 2, 0x99, InFunction(0)};
  const std::string both = "900010 900080r? 401010r? thread start";
  for (const ByteBuilder& entry : {ByteBuilder{0x55, 0x48, 0x89, 0xe5, 0, 0, 0, 0},
                                   ByteBuilder{0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0, 0, 0},
                                   ByteBuilder{0xc3, 0, 0, 0, 0, 0, 0, 0}}) {
    space_->SetMemory(kJit + 0x10, entry);
    EXPECT_EQ(Unwind(kJit + 0x10, at_entry), both);
  }
  for (const ByteBuilder& move : {ByteBuilder{0x48, 0x89, 0xe5, 0, 0, 0, 0, 0},
                                  ByteBuilder{0x48, 0x8b, 0xec, 0, 0, 0, 0, 0}}) {
    space_->SetMemory(kJit + 0x10, move);
    EXPECT_EQ(Unwind(kJit + 0x10, after_push), both);
  }
  space_->SetMemory(kJit + 0x10, ByteBuilder{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90});
  EXPECT_EQ(Unwind(kJit + 0x10, at_entry), "900010 401010r? thread start");
}

TEST_F(UnwinderTest, ACallerThatHasOnlyToReturnNeedsNoFramePointer) {
  Functions({{}, kThreadStart});
  constexpr uint64_t kCaller = kJit + 0x80;
  space_->SetMemory(InFunction(1) - 8, kCall);
  registers_.Set(6, 12345);
  // add rsp, 8; ret
  space_->SetMemory(kCaller, {0x48, 0x83, 0xc4, 8, 0xc3, 0, 0, 0});
  EXPECT_EQ(Unwind(InFunction(0), {kCaller, 7, InFunction(1)}),
            "401010 900080r 402010r? thread start");
  EXPECT_EQ(chain_.registers.fp(), 12345u);
  // add rsp, 256; pop rbx; pop r12; pop rbp; rep ret
  space_->SetMemory(kCaller, {0x48, 0x81, 0xc4, 0, 1, 0, 0, 0x5b, 0x41, 0x5c, 0x5d, 0xf3, 0xc3});
  space_->SetMemory(kCaller + 13, ByteBuilder{0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  space_->SetMemory(kCaller + 23, ByteBuilder{0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  std::vector<uint64_t> stack(1 + 32 + 2, 7);
  stack[0] = kCaller;
  stack.insert(stack.end(), {0x5555, InFunction(1)});
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 900080r 402010r? thread start");
  EXPECT_EQ(chain_.registers.fp(), 0x5555u);
  stack.pop_back();
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 900080r stack too short");
  // jmp, followed by other code
  space_->SetMemory(kCaller, {0xeb, 0, 0x48, 0x83, 0xc4, 8, 0xc3, 0});
  EXPECT_EQ(Unwind(InFunction(0), {kCaller, 7, InFunction(1)}),
            "401010 900080r no call frame information");
}

TEST_F(UnwinderTest, ATrampolineIsLeftByWhateverInstructionOfItWasInterrupted) {
  Functions({kThreadStart});
  space_->SetMemory(InFunction(0) - 8, kCall);
  registers_.Set(6, 12345);
  // sub rsp, 8; call rcx; add rsp, 8; ret
  space_->SetMemory(kJit, {0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3});
  for (uint64_t i = 11; i < 64; ++i) space_->memory[kJit + i] = std::byte{0};
  const std::vector<uint64_t> outside = {InFunction(0)};
  const std::vector<uint64_t> inside = {7, InFunction(0)};
  EXPECT_EQ(Unwind(kJit, outside), "900000 401010r? thread start");
  EXPECT_EQ(Unwind(kJit + 4, inside), "900004 401010r? thread start");
  EXPECT_EQ(Unwind(kJit + 6, inside), "900006 401010r? thread start");
  EXPECT_EQ(Unwind(kJit + 10, outside), "90000a 401010r? thread start");
}

TEST_F(UnwinderTest, WhatIsOnTopOfTheStackMustFollowACall) {
  Functions({kThreadStart});
  space_->SetMemory(kJit + 0x10, ByteBuilder{0x55, 0, 0, 0, 0, 0, 0, 0});
  space_->SetMemory(kJit + 0x78, ByteBuilder{0, 0, 0, 0, 0, 0, 0, 0});
  registers_.Set(6, kStack + 24);
  EXPECT_EQ(Unwind(kJit + 0x10, {kJit + 0x80, 1, 2, 0x99, InFunction(0)}),
            "900010 401010r? thread start");
}

TEST_F(UnwinderTest, SearchesTheReturnAddressOfHandWrittenCodeOfAnImage) {
  Functions({kThreadStart});
  space_->SetMemory(InFunction(0) - 8, kCall);
  registers_.Set(6, 12345);  // no frame pointer
  EXPECT_EQ(Unwind(kCode + 0x100, {kCode + 0x200, 7, InFunction(0)}),
            "400100 401010r? thread start");
  EXPECT_EQ(Unwind(kCode + 0x100, {1, 2, 3, 4, 5, 6, 7, 8, InFunction(0)}),
            "400100 no call frame information");
}

// push rbx; sub rsp, 16; nop; add rsp, 16; pop rbx; ret.
const ByteBuilder kKeepsTwoWords{0x53, 0x48, 0x83, 0xec, 0x10, 0x90,
                                 0x48, 0x83, 0xc4, 0x10, 0x5b, 0xc3};

TEST_F(UnwinderTest, WhereNothingIsSaidOfAFunctionItsInstructionsTell) {
  Functions({kThreadStart}, {}, EM_X86_64, kKeepsTwoWords);
  space_->SetMemory(InFunction(0) - 8, kCall);
  registers_.Set(6, 12345);  // no frame pointer
  EXPECT_EQ(Unwind(kCode + 0x105, {1, 2, 3, InFunction(0)}), "400105 401010r? thread start");
  EXPECT_EQ(Unwind(kCode + 0x101, {3, InFunction(0)}), "400101 401010r? thread start");
  EXPECT_EQ(Unwind(kCode + 0x100, {InFunction(0)}), "400100 401010r? thread start");
  EXPECT_EQ(chain_.guessed, 1u);
}

TEST_F(UnwinderTest, WhatInstructionsTellOfACallerIsTakenWhereverTheStackIsKnown) {
  Functions({{}, kThreadStart}, {}, EM_X86_64, kKeepsTwoWords);
  space_->SetMemory(InFunction(1) - 8, kCall);
  EXPECT_EQ(Unwind(InFunction(0), {kCode + 0x106, 1, 2, 3, InFunction(1)}),
            "401010 400106r 402010r? thread start");
  EXPECT_EQ(Unwind(InFunction(0), {kCode + 0x106, 1, 2}), "401010 400106r stack too short");
}

TEST_F(UnwinderTest, ACallerIsEstablishedThatCallsTheFunctionWhoseInstructionsLedToIt) {
  Functions({kThreadStart}, {}, EM_X86_64, kKeepsTwoWords);
  registers_.Set(6, 12345);  // no frame pointer
  const auto call_before = [&](int opcode, uint64_t target) {
    ByteBuilder call{0x90, 0x90, 0x90, opcode};
    space_->SetMemory(InFunction(0) - 8, call.U32(static_cast<uint32_t>(target - InFunction(0))));
    return Unwind(kCode + 0x105, {1, 2, 3, InFunction(0)});
  };
  EXPECT_EQ(call_before(0xe8, kCode + 0x100), "400105 401010r thread start");
  EXPECT_EQ(chain_.guessed, 0u);
  EXPECT_EQ(call_before(0xe8, kCode + 0x102), "400105 401010r? thread start");
  // The call goes through a linkage table.
  ByteBuilder stub{0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 1, 0, 0, 0};
  space_->SetMemory(kCode + 0x700, stub.Pad(16, 0x90));
  EXPECT_EQ(call_before(0xe8, kCode + 0x700), "400105 401010r thread start");
  // The call goes through a function that ends with a jump: add $8, %rsp; jmp.
  ByteBuilder tail{0x48, 0x83, 0xc4, 8, 0xe9};
  space_->SetMemory(kCode + 0x700, tail.U32(static_cast<uint32_t>(0x100 - 0x709)).Pad(128, 0x90));
  EXPECT_EQ(call_before(0xe8, kCode + 0x700), "400105 401010r thread start");
  // The call goes through a register.
  space_->SetMemory(InFunction(0) - 2, {0xff, 0xd0});
  space_->SetMemory(InFunction(0) - 7, {0x90, 0x90, 0x90, 0x90, 0x90});
  EXPECT_EQ(Unwind(kCode + 0x105, {1, 2, 3, InFunction(0)}), "400105 401010r thread start");
}

// sub $32, %rsp; call 1f; add $32, %rsp; ret; 1: push %rbx; pop %rbx; ret
TEST_F(UnwinderTest, AHelperInsideAFunctionIsCalledByIt) {
  const ByteBuilder code{0x48, 0x83, 0xec, 0x20, 0xe8, 5,    0,    0,   0,
                         0x48, 0x83, 0xc4, 0x20, 0xc3, 0x53, 0x5b, 0xc3};
  EhFrameBuilder frames(0x50000, {});
  frames.Add({.start = 0x100, .size = code.size(), .instructions = {DW_CFA_def_cfa_offset, 40}})
      .Add({.start = 0x1000, .instructions = kThreadStart});
  file_ = ElfBuilder()
              .Section(".eh_frame", 0x50000, frames.section())
              .Section(".text", 0x100, code, SHF_ALLOC | SHF_EXECINSTR)
              .Build();
  table_ = *CfiTable::Create(*ElfImage::Parse(file_));
  space_ = std::make_unique<FakeSpace>(table_.get());
  registers_.Set(7, kStack);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Unwind(kCode + 0x104, {0, 0, 0, 0, InFunction(0)}), "400104 401010r thread start");
    EXPECT_EQ(Unwind(kCode + 0x10e, {kCode + 0x109, 0, 0, 0, 0, InFunction(0)}),
              "40010e 400109r 401010r thread start");
    EXPECT_EQ(Unwind(kCode + 0x10f, {5, kCode + 0x109, 0, 0, 0, 0, InFunction(0)}),
              "40010f 400109r 401010r thread start");
  }
  EXPECT_EQ(chain_.guessed, 0u);
}

TEST_F(UnwinderTest, InstructionsAreNotBelievedThatLeadToNoReturnAddress) {
  Functions({kThreadStart}, {}, EM_X86_64, kKeepsTwoWords);
  space_->SetMemory(InFunction(0) - 8, kCall);
  registers_.Set(6, 12345);
  // The caller is found on top of the stack.
  EXPECT_EQ(Unwind(kCode + 0x105, {InFunction(0), 2, 3, 4}), "400105 401010r? thread start");
  UnwindLimits without;
  without.frame_pointers = false;  // nothing is guessed
  EXPECT_EQ(Unwind(kCode + 0x105, {1, 2, 3, InFunction(0)}, without),
            "400105 no call frame information");
}

// musl's clone sets the frame pointer to 0 in the new thread. Assembly code that does not stop may
// use the register for other purposes.
TEST_F(UnwinderTest, AFunctionThatGivesTheFramePointerAwayAndStopsIsAThreadsFirst) {
  // xor ebp, ebp; call rax; hlt
  ByteBuilder code{0x31, 0xed, 0xff, 0xd0, 0xf4};
  code.Pad(64, 0x90);
  Functions({{}}, {}, EM_X86_64, code);
  space_->SetMemory(kCode + 0x100, code);
  registers_.Set(6, 1);
  EXPECT_EQ(Unwind(InFunction(0), {kCode + 0x104, 1, 2, 3}), "401010 400104r thread start");
  code = ByteBuilder{0x31, 0xed, 0xff, 0xd0, 0xc3};
  code.Pad(64, 0x90);
  Functions({{}}, {}, EM_X86_64, code);
  space_->SetMemory(kCode + 0x100, code);
  unwinder_ = Unwinder(nullptr);
  EXPECT_EQ(Unwind(InFunction(0), {kCode + 0x104, 1, 2, 3}),
            "401010 400104r no call frame information");
}

TEST_F(UnwinderTest, AFramePointerOfZeroIsTheThreadsStartOnlyBeforeCodeThatStops) {
  Functions({kPushedFp});
  registers_.Set(6, kStack + 8);
  EXPECT_EQ(Unwind(InFunction(0), {0, 0, kJit + 5}), "401010 900005r no call frame information");
  ByteBuilder code{0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05, 0xf4};  // exit; hlt
  space_->SetMemory(kJit + 5, code.Pad(32, 0x90));
  EXPECT_EQ(Unwind(InFunction(0), {0, 0, kJit + 5}), "401010 900005r thread start");
}

// The first instruction of a new thread is in clone3, after its system call. The information of
// glibc 2.36 ends in front of that instruction, and begins again where the new thread goes.
TEST_F(UnwinderTest, AThreadAtItsFirstInstructionHasNoCaller) {
  Functions({kThreadStart, {}});
  constexpr uint64_t kAfter = kCode + 0xff0;  // kThreadStart is 16 bytes behind it
  // test %rax, %rax; jl; je kThreadStart; ret
  const ByteBuilder code{0x48, 0x85, 0xc0, 0x7c, 2, 0x74, 9, 0xc3};
  const auto after_system_call = [&] {
    space_->SetMemory(kAfter - 8, {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x0f, 0x05});
    space_->SetMemory(kAfter, ByteBuilder(code).Pad(32, 0x90));
    space_->SetMemory(InFunction(1) - 8, {0x90, 0x90, 0x90, 0xe8, 0, 0, 0, 0});
    registers_.Set(0, 0);
  };
  after_system_call();
  EXPECT_EQ(Unwind(kAfter, {InFunction(1)}), "400ff0 thread start");
  // The parent.
  registers_.Set(0, 25012);
  EXPECT_EQ(Unwind(kAfter, {InFunction(1), 1}), "400ff0 402010r? bad return address");
  // No system call.
  after_system_call();
  space_->SetMemory(kAfter - 2, {0x90, 0x90});
  EXPECT_EQ(Unwind(kAfter, {InFunction(1), 1}), "400ff0 402010r? bad return address");
  // Code behind another system call, which returns 0, too.
  after_system_call();
  space_->SetMemory(kAfter + 5, {0x90, 0x90});
  EXPECT_EQ(Unwind(kAfter, {InFunction(1), 1}), "400ff0 402010r? bad return address");
}

TEST_F(UnwinderTest, TheEntryPointHasNoCaller) {
  Functions({{}});
  registers_.Set(6, 1);
  EXPECT_EQ(Unwind(InFunction(0), {kCode + 0x8010}), "401010 408010r thread start");
}

TEST_F(UnwinderTest, WhatOthersCallMayStandBehindTheEntryPoint) {
  ByteBuilder text{0x31, 0xed, 0xf4};  // xor %ebp, %ebp; hlt
  text.Pad(16, 0x90).Bytes({0x48, 0x8b, 0x1c, 0x24, 0xc3});
  Functions({kThreadStart}, {}, EM_X86_64, text, /*entry=*/0x100);
  space_->SetMemory(kCode + 0x100, text);
  space_->SetMemory(InFunction(0) - 8, {0x90, 0x90, 0x90, 0xe8, 0, 0, 0, 0});
  EXPECT_EQ(Unwind(kCode + 0x110, {InFunction(0)}), "400110 401010r? thread start");
  EXPECT_EQ(Unwind(kCode + 0x100, {InFunction(0)}), "400100 thread start");
  EXPECT_EQ(Unwind(kCode + 0x102, {InFunction(0)}), "400102 thread start");
}

TEST_F(UnwinderTest, WhereAFunctionIsWrongAboutItselfItsInstructionsTell) {
  const ByteBuilder text{0x50, 0x90, 0x58, 0xc3};  // push %rax; nop; pop %rax; ret
  EhFrameBuilder frames(0x50000, {});
  frames.Add({.start = 0x100, .size = 4}).Add({.start = 0x1000, .instructions = kThreadStart});
  file_ = ElfBuilder()
              .Section(".eh_frame", 0x50000, frames.section())
              .Section(".text", 0x100, text, SHF_ALLOC | SHF_EXECINSTR)
              .Build();
  table_ = *CfiTable::Create(*ElfImage::Parse(file_));
  space_ = std::make_unique<FakeSpace>(table_.get());
  registers_.Set(7, kStack);
  space_->SetMemory(InFunction(0) - 8, {0x90, 0x90, 0x90, 0xe8, 0, 0, 0, 0});
  EXPECT_EQ(Unwind(kCode + 0x101, {7, InFunction(0)}), "400101 401010r? thread start");
  EXPECT_EQ(chain_.guessed, 1u);
  EXPECT_EQ(Unwind(kCode + 0x101, {7, 8}), "400101 bad return address");
}

TEST_F(UnwinderTest, EndsWhereNothingIsMapped) {
  Functions({{}});
  EXPECT_EQ(Unwind(0x123, {0}), "123 no image");
}

TEST_F(UnwinderTest, AReturnAddressInNoMappingIsNoFrame) {
  Functions({{}});
  registers_.Set(6, 1);
  EXPECT_EQ(Unwind(InFunction(0), {0x5555}), "401010 bad return address");
  EXPECT_EQ(chain_.end_image, 7u) << "the image that led there";
  EXPECT_EQ(Unwind(InFunction(0), {kJit + 0x10}), "401010 900010r no call frame information");
}

TEST_F(UnwinderTest, ARepeatedStepToNoMappingLeadsToNoFrameEither) {
  Functions({{}, {}, kThreadStart});
  space_->identity = 1;
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(1), InFunction(2)}),
            "401010 402010r 403010r thread start");
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(1), 0x5555}), "401010 402010r bad return address");
}

TEST_F(UnwinderTest, WhatASignalInterruptedIsAFrameWhereverItIs) {
  Functions({{}});
  const uint64_t restorer = kCode + 0x500;
  space_->SetMemory(restorer, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05});
  std::vector<uint64_t> stack(40);
  stack[0] = restorer;
  stack[1 + 5 + 15] = kStack + 8 * 30;  // rsp
  stack[1 + 5 + 16] = 0x5555;           // rip
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 400500 5555* no image");
}

TEST_F(UnwinderTest, EndsWhereTheCopiedStackEnds) {
  Functions({kFrameOf16});
  EXPECT_EQ(Unwind(InFunction(0), {1, 2, InFunction(0), 3}), "401010 401010r stack too short");
  EXPECT_EQ(Unwind(InFunction(0), {}), "401010 stack too short");
  EXPECT_EQ(chain_.end_image, 7u);
}

TEST_F(UnwinderTest, ReadsWhatWasNotCopied) {
  Functions({kFrameOf16, kThreadStart});
  space_->SetMemory(kStack + 24 + 16, ByteBuilder().U64(InFunction(1)));
  EXPECT_EQ(Unwind(InFunction(0), {1, 2, InFunction(0), 3}),
            "401010 401010r 402010r* thread start");
  EXPECT_EQ(chain_.late_read, 1u);
}

TEST_F(UnwinderTest, GoesOnFromAnUnfinishedChain) {
  Functions({kFrameOf16, kThreadStart});
  ASSERT_EQ(Unwind(InFunction(0), {1, 2, InFunction(0), 3}), "401010 401010r stack too short");
  const RegisterSet from = chain_.registers;
  EXPECT_EQ(from.sp(), kStack + 24);
  const ByteBuilder more = ByteBuilder().U64(3).U64(4).U64(InFunction(1));
  unwinder_.Unwind(from, {from.sp(), more.bytes()}, *space_, {}, &chain_, true);
  ASSERT_EQ(chain_.frames.size(), 2u);
  EXPECT_EQ(chain_.frames[1].address.value, InFunction(1));
  EXPECT_TRUE(chain_.whole());
}

TEST_F(UnwinderTest, EndsAtRegistersThatPointNowhere) {
  Functions({kPushedFp});
  registers_.Set(6, 0x1000);
  EXPECT_EQ(Unwind(InFunction(0), {0, 0}), "401010 bad register");
  registers_.Set(6, kStack + 3);
  EXPECT_EQ(Unwind(InFunction(0), {1, 2, 3, 4}), "401010 bad register");
}

// __morestack of -fsplit-stack continues a function on a new segment in this way.
TEST_F(UnwinderTest, ASegmentOfTheStackWhoseFormerOneWasNotCopiedEndsWithASwitch) {
  Functions({{}, ByteBuilder{DW_CFA_def_cfa, 6, 24, DW_CFA_offset | 6, 3}, kThreadStart});
  constexpr uint64_t kFormer = kStack + 0x1000;
  registers_.Set(6, kFormer);
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(1), 1, 2}), "401010 402010r stack switch");
  EXPECT_EQ(chain_.registers.fp(), kFormer);
  space_->SetMemory(kFormer, ByteBuilder().U64(5).U64(InFunction(0, 4)).U64(InFunction(2)));
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(1), 1, 2}), "401010 402010r 403010r* thread start");
}

TEST_F(UnwinderTest, EndsWhereTheStackDoesNotShrink) {
  Functions({{DW_CFA_def_cfa_offset, 0, DW_CFA_offset_extended_sf, 16, 0x7f}});
  EXPECT_EQ(Unwind(InFunction(0), {1, InFunction(0), InFunction(0)}), "401010 no progress");
}

TEST_F(UnwinderTest, EndsAtTheLimitOfFrames) {
  Functions({{}});
  const std::vector<uint64_t> stack(100, InFunction(0));
  EXPECT_EQ(Unwind(InFunction(0), stack, {.max_frames = 3}), "401010 401010r 401010r too deep");
}

TEST_F(UnwinderTest, StepsThatAreTheSameAgainLeadOnAsBefore) {
  Functions({{}, kFrameOf16, kPushedFp, kThreadStart});
  space_->identity = 1;
  registers_.Set(6, kStack + 32);
  const std::vector<uint64_t> stack = {InFunction(1), 1, 2, InFunction(2), 0x99, InFunction(3)};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Unwind(InFunction(0, 0x10), stack), "401010 402010r 403010r 404010r thread start");
    EXPECT_EQ(chain_.registers.fp(), 0x99u);
    EXPECT_EQ(chain_.frames[3].stack_pointer, kStack + 48);
  }
  // The caller changes, or the limit is reached, in the middle of cached steps.
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(1), 1, 2, InFunction(3), 0, 0}),
            "401010 402010r 404010r thread start");
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 402010r 403010r 404010r thread start");
  EXPECT_EQ(Unwind(InFunction(0), stack, {.max_frames = 3}), "401010 402010r 403010r too deep");
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(1), 1, 2}), "401010 402010r stack too short");
}

TEST_F(UnwinderTest, NothingIsTakenOverFromWhereOtherCodeIs) {
  Functions({{}, kFrameOf16, kThreadStart});
  space_->identity = 1;
  const std::vector<uint64_t> stack = {InFunction(1), InFunction(2), 0, InFunction(2), 0};
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 402010r 403010r thread start");
  EXPECT_EQ(chain_.frames[2].stack_pointer, kStack + 32);
  const auto former = std::move(table_);
  Functions({{}, {}, kThreadStart});
  space_->identity = 2;
  EXPECT_EQ(Unwind(InFunction(0), stack), "401010 402010r 403010r thread start");
  EXPECT_EQ(chain_.frames[2].stack_pointer, kStack + 16);
}

// Compares an unwinder that reuses steps with an unwinder that does not.
TEST_F(UnwinderTest, WhateverChangesBetweenChainsTheyAreWhatTheStackSays) {
  Functions({{}, kFrameOf16, kPushedFp, kThreadStart, {DW_CFA_def_cfa_offset, 40}});
  space_->identity = 1;
  FakeSpace anew(table_.get());
  std::mt19937 random(4711);
  std::vector<uint64_t> stack(64);
  Unwinder other(nullptr);
  size_t longest = 0;
  for (int round = 0; round < 20'000; ++round) {
    // Mostly inner words change; outer ones change less often.
    for (size_t changes = random() % 3; changes > 0; --changes) {
      uint64_t& word = stack[random() % (random() % stack.size() + 1)];
      const uint64_t kind = random() % 8;
      word = kind == 0   ? random() % 100
             : kind <= 2 ? kStack + random() % 64 * 8
                         : InFunction(static_cast<int>(random() % 16 == 0 ? 3 : random() % 5));
    }
    const uint64_t skipped = random() % 8;
    ByteBuilder words;
    for (size_t i = skipped; i < stack.size(); ++i) words.U64(stack[i]);
    const StackBytes bytes{kStack + skipped * 8, words.bytes()};
    registers_.Set(7, bytes.start);
    registers_.Set(6, kStack + random() % 64 * 8);
    registers_.Set(16, InFunction(static_cast<int>(random() % 5)));
    const UnwindLimits limits{.max_frames = static_cast<uint32_t>(1 + random() % 20),
                              .frame_pointers = round % 2 == 0};
    unwinder_.Unwind(registers_, bytes, *space_, limits, &chain_);
    const std::string text = Text();
    const std::vector<UnwoundFrame> frames(chain_.frames.begin(), chain_.frames.end());
    const RegisterSet registers = chain_.registers;
    other.Unwind(registers_, bytes, anew, limits, &chain_);
    ASSERT_EQ(text, Text()) << round;
    ASSERT_EQ(frames, std::vector(chain_.frames.begin(), chain_.frames.end())) << round;
    for (const unsigned number : {6u, 7u, 16u}) {
      ASSERT_EQ(registers.Knows(number), chain_.registers.Knows(number));
      ASSERT_EQ(registers.Get(number), chain_.registers.Get(number));
    }
    longest = std::max(longest, frames.size());
  }
  EXPECT_GT(longest, 10u);
}

const ByteBuilder kStartOfI386{DW_CFA_undefined, 8};
const ByteBuilder kFrameOf12OfI386{DW_CFA_def_cfa_offset, 16};

TEST_F(UnwinderTest, OnI386WordsHaveFourBytes) {
  Functions({{}, kFrameOf12OfI386, {DW_CFA_def_cfa, 5, 8, DW_CFA_offset | 5, 2}, kStartOfI386},
            CieOfI386(), EM_386);
  registers_.Set(5, kStack + 24);
  for (int i = 0; i < 2; ++i) {
    space_->identity = 1;  // and again, with cached steps
    EXPECT_EQ(
        Unwind(InFunction(0), {InFunction(1), 1, 2, 3, InFunction(2), 5, 0x77, InFunction(3)}),
        "401010 402010r 403010r 404010r thread start");
    EXPECT_EQ(chain_.frames[3].stack_pointer, kStack + 32);
    EXPECT_EQ(chain_.registers.fp(), 0x77u);
  }
  EXPECT_EQ(Unwind(InFunction(1), {1, 2, 3}), "402010 stack too short");
}

TEST_F(UnwinderTest, OnI386ATableOfLinkagesPushesFourBytes) {
  ByteBuilder linkage{DW_CFA_def_cfa_expression};
  linkage.Block({DW_OP_breg0 + 4, 4, DW_OP_breg0 + 8, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
                 DW_OP_ge, DW_OP_lit2, DW_OP_shl, DW_OP_plus});
  Functions({linkage, kStartOfI386}, CieOfI386(), EM_386);
  EXPECT_EQ(Unwind(InFunction(0, 0x2a), {InFunction(1), 0}), "40102a 402010r thread start");
  EXPECT_EQ(Unwind(InFunction(0, 0x2b), {5, InFunction(1)}), "40102b 402010r thread start");
}

TEST_F(UnwinderTest, OnI386ARealignedFrameSaysWhereItsCallersStackIs) {
  // GCC's main begins like this:
  // lea 4(%esp), %ecx; and $-16, %esp; pushl -4(%ecx); push %ebp; …
  Functions({{DW_CFA_def_cfa, 1, 0, DW_CFA_advance_loc | 0x20, DW_CFA_def_cfa_expression, 3,
              DW_OP_breg0 + 5, 0x7c, DW_OP_deref, DW_CFA_expression, 5, 2, DW_OP_breg0 + 5, 0},
             kStartOfI386},
            CieOfI386(), EM_386);
  registers_.Set(1, kStack + 24);
  registers_.Set(5, kStack + 8);
  const std::vector<uint64_t> stack = {0, kStack + 24, 0x77, 0, 0, InFunction(1)};
  EXPECT_EQ(Unwind(InFunction(0, 0x10), stack), "401010 402010r thread start");
  EXPECT_EQ(Unwind(InFunction(0, 0x20), stack), "401020 402010r thread start");
  EXPECT_EQ(chain_.registers.fp(), 0x77u);
}

TEST_F(UnwinderTest, OnI386BothReturnsFromASignalAreRecognizedByTheirCode) {
  Functions({{}, kStartOfI386}, CieOfI386(), EM_386);
  const uint64_t restorer = kCode + 0x500;
  const auto stack_with = [&](size_t registers) {
    std::vector<uint64_t> stack(80);
    stack[0] = restorer;
    stack[registers + 3] = kStack + 4 * 70;    // esp
    stack[registers + 10] = InFunction(0, 0);  // eip
    stack[70] = InFunction(1);
    return stack;
  };
  constexpr auto kChain = "401010 400500 401000* 402010r thread start";
  space_->SetMemory(restorer, {0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80});
  EXPECT_EQ(Unwind(InFunction(0), stack_with(1 + 1 + 4)), kChain);
  space_->SetMemory(restorer, {0xb8, 0xad, 0, 0, 0, 0xcd, 0x80});
  EXPECT_EQ(Unwind(InFunction(0), stack_with(1 + 3 + 32 + 5 + 4)), kChain);
}

TEST_F(UnwinderTest, OnI386FramePointersAreFollowedWhereThereIsNoRule) {
  Functions({kStartOfI386}, CieOfI386(), EM_386);
  registers_.Set(5, kStack + 4);
  EXPECT_EQ(Unwind(kJit, {1, kStack + 12, kJit + 0x20, 4, InFunction(0)}),
            "900000 900020r? 401010r? thread start");
}

TEST_F(UnwinderTest, OnI386AnInterruptedFunctionThatHasNoFrameKeepsItsCaller) {
  Functions({kStartOfI386}, CieOfI386(), EM_386);
  constexpr uint64_t kCaller = kJit + 0x80;
  space_->SetMemory(kJit, ByteBuilder().Pad(1));
  for (uint64_t i = 0; i < 0x100; ++i) space_->SetMemory(kJit + i, {0x90});
  space_->SetMemory(kCaller - 5, {0xe8, 0, 0, 0, 0});
  registers_.Set(5, kStack + 16);
  const auto chain_at = [&](const ByteBuilder& code, const std::vector<uint64_t>& top) {
    space_->SetMemory(kJit + 0x10, code);
    std::vector<uint64_t> stack = top;
    stack.resize(4);
    stack.insert(stack.end(), {0, InFunction(0)});
    return Unwind(kJit + 0x10, stack);
  };
  constexpr auto kWhole = "900010 900080r? 401010r? thread start";
  EXPECT_EQ(chain_at({0xf3, 0x0f, 0x1e, 0xfb}, {kCaller}), kWhole);               // endbr32
  EXPECT_EQ(chain_at({0x55, 0x89, 0xe5}, {kCaller}), kWhole);                     // push %ebp
  EXPECT_EQ(chain_at({0x89, 0xe5, 0x90, 0x90}, {kStack + 16, kCaller}), kWhole);  // mov
  EXPECT_EQ(chain_at({0x83, 0xc4, 4, 0x5b, 0xc3}, {1, 2, kCaller}), kWhole);      // add, pop, ret
  EXPECT_EQ(chain_at({0xc2, 4, 0, 0x90}, {kCaller}), kWhole);                     // ret $4
}

TEST_F(UnwinderTest, OnI386AnExceptionThatIsHandedOverLeadsToTheFunctionThatCatches) {
  // i386's two registers are eax and edx.
  Functions(
      {{DW_CFA_def_cfa, 5, 8, DW_CFA_offset | 5, 2, DW_CFA_offset | 0, 3, DW_CFA_offset | 2, 4},
       kFrameOf12OfI386,
       kStartOfI386},
      CieOfI386(), EM_386);
  registers_.Set(5, kStack + 8);
  const uint64_t call = InFunction(1);
  EXPECT_EQ(Unwind(InFunction(0), {1, 2, 0x77, call, 5, 3, call, 4, 5, 6, InFunction(2)}),
            "401010 402010r? 403010r thread start");
}

TEST_F(UnwinderTest, NothingIsKnownOfAnImageOfAnotherArchitecture) {
  Functions({{}, kThreadStart});
  registers_ = RegisterSet(Architecture::kI386);
  registers_.Set(4, kStack);
  registers_.Set(5, kStack);
  EXPECT_EQ(Unwind(InFunction(0), {0, InFunction(1)}), "401010 402010r? no call frame information");
}

TEST(RegisterSetTest, ReadsTheOrderOfPerf) {
  ByteBuilder values;
  for (int i = 0; i < 24; ++i) values.U64(static_cast<uint64_t>(100 + i));
  const auto registers = RegisterSet::FromPerf(Architecture::kX86_64, 2, 0xffffff, values.bytes());
  ASSERT_TRUE(registers.has_value());
  EXPECT_EQ(registers->Get(0), 100u);  // rax
  EXPECT_EQ(registers->Get(3), 101u);  // rbx
  EXPECT_EQ(registers->fp(), 106u);
  EXPECT_EQ(registers->sp(), 107u);
  EXPECT_EQ(registers->pc(), 108u);
  EXPECT_EQ(registers->Get(15), 123u);
}

TEST(RegisterSetTest, OfAProgramWithThirtyTwoBitsItHasThoseOfI386) {
  ByteBuilder values;
  constexpr uint64_t kAbove = uint64_t{7} << 32;
  for (int i = 0; i < 24; ++i) values.U64(kAbove | static_cast<uint64_t>(100 + i));
  const auto registers = RegisterSet::FromPerf(Architecture::kX86_64, 1, 0xffffff, values.bytes());
  ASSERT_TRUE(registers.has_value());
  EXPECT_EQ(registers->architecture(), Architecture::kI386);
  std::string text;
  for (unsigned i = 0; i < kRegisters; ++i) {
    if (registers->Knows(i)) absl::StrAppend(&text, registers->Get(i), " ");
  }
  EXPECT_EQ(text, "100 102 103 101 107 106 104 105 108 ");
}

TEST(RegisterSetTest, NeedsPcAndSp) {
  const ByteBuilder two = ByteBuilder().U64(1).U64(2);
  constexpr uint64_t kSpAndIp = 0x180;
  const auto read = [&](uint64_t abi, uint64_t mask) {
    return RegisterSet::FromPerf(Architecture::kX86_64, abi, mask, two.bytes()).has_value();
  };
  EXPECT_TRUE(read(2, kSpAndIp));
  EXPECT_TRUE(read(1, kSpAndIp));
  EXPECT_FALSE(read(0, kSpAndIp));
  EXPECT_FALSE(read(2, 0x3));
  EXPECT_FALSE(read(2, kSpAndIp | 1));  // one value too few
}

// A machine whose frames have three words. The highest word is the return address, and there is no
// frame pointer. Some frames are listed at another address than their pc.
class FakeMachine : public ManagedCode {
 public:
  bool HasCodeInImages() const override { return has_code_in_images; }
  ManagedStep StepFrom(const ManagedFrame& frame, MemoryReader& stack) override {
    ++asked;
    ManagedStep step{.kind = kind};
    if (kind != ManagedStep::Kind::kCaller) return step;
    const uint64_t sp = frame.registers.sp();
    if (!stack.ReadWord(sp + 16, &step.pc)) return {.kind = ManagedStep::Kind::kUnreadable};
    step.sp = sp + 24 + grown;
    step.frame_end = sp + 24;
    step.listed = listed;
    step.is_guessed = is_guessed;
    return step;
  }

  bool is_guessed = false;
  ManagedStep::Kind kind = ManagedStep::Kind::kCaller;
  uint64_t grown = 0;  // number of words by which the caller's frame has grown
  RuntimeAddress listed;
  bool has_code_in_images = false;
  int asked = 0;
};

class ManagedFramesTest : public UnwinderTest {
 protected:
  ManagedFramesTest() {
    Functions({{}, kFrameOf16, kThreadStart});
    space_->machine = &machine_;
  }

  FakeMachine machine_;
};

TEST_F(ManagedFramesTest, AreLeftAsTheirMachineSays) {
  EXPECT_EQ(Unwind(kJit + 0x10, {1, 2, kJit + 0x30, 3, 4, InFunction(2)}),
            "900010 900030r 403010r thread start");
  EXPECT_EQ(chain_.guessed, 0u);
}

TEST_F(ManagedFramesTest, AreMarkedWhereTheirMachineGuesses) {
  machine_.is_guessed = true;
  EXPECT_EQ(Unwind(kJit + 0x10, {1, 2, InFunction(2)}), "900010 403010r? thread start");
  EXPECT_EQ(chain_.guessed, 1u);
}

TEST_F(ManagedFramesTest, AreListedWhereTheirMachineSays) {
  machine_.listed = {0x7000};
  EXPECT_EQ(Unwind(kJit + 0x10, {1, 2, InFunction(2)}), "7000 403010r thread start");
  EXPECT_EQ(chain_.frames[0].instruction().value, 0x7000u) << "not the byte before it";
}

TEST_F(ManagedFramesTest, AreKnownByWhereTheyEndAndNotByHowTheCallersHaveGrown) {
  machine_.grown = 8;
  EXPECT_EQ(Unwind(kJit + 0x10, {1, 2, kJit + 0x30, 0, 3, 4, InFunction(2)}),
            "900010 900030r 403010r thread start");
  EXPECT_EQ(chain_.frames[1].stack_pointer, kStack + 24);
}

TEST_F(ManagedFramesTest, EndTheChainWhereTheyMakeNoSense) {
  machine_.kind = ManagedStep::Kind::kLost;
  EXPECT_EQ(Unwind(kJit + 0x10, {1, 2, InFunction(2)}), "900010 no call frame information");
}

TEST_F(ManagedFramesTest, WhoseStackIsNotCopiedGoOnInTheProcess) {
  EXPECT_EQ(Unwind(kJit + 0x10, {1, 2}), "900010 stack too short");
  space_->SetMemory(kStack + 16, ByteBuilder().U64(InFunction(2)));
  EXPECT_EQ(Unwind(kJit + 0x10, {1, 2}), "900010 403010r* thread start");
}

TEST_F(ManagedFramesTest, GoOnFromTheLastOneOfAChainThatIsFull) {
  machine_.listed = {0x7000};
  EXPECT_EQ(Unwind(kJit + 0x10, {1, 2, InFunction(2)}, {.max_frames = 1}), "900010 too deep");
}

TEST_F(ManagedFramesTest, AreGuessedAtWhereTheirMachineSaysNothing) {
  machine_.kind = ManagedStep::Kind::kUnknown;
  registers_.Set(NumbersOf(registers_.architecture()).fp, kStack);
  EXPECT_EQ(Unwind(kJit + 0x10, {0, InFunction(2)}), "900010 403010r? thread start");
}

TEST_F(ManagedFramesTest, EndTheChainIfTheyHaveOnlyAFramePointerOfACaller) {
  machine_.kind = ManagedStep::Kind::kFrameless;
  registers_.Set(NumbersOf(registers_.architecture()).fp, kStack);
  EXPECT_EQ(Unwind(kJit + 0x10, {0, InFunction(2)}), "900010 no call frame information");
}

TEST_F(ManagedFramesTest, AreAskedForInImagesWithoutARuleIfTheMachineHasSuch) {
  constexpr uint64_t kWithoutRule = kCode + 0x100;
  EXPECT_EQ(Unwind(kWithoutRule, {1, 2, InFunction(2)}), "400100 no call frame information");
  EXPECT_EQ(machine_.asked, 0);
  machine_.has_code_in_images = true;
  EXPECT_EQ(Unwind(kWithoutRule, {1, 2, InFunction(2)}), "400100 403010r thread start");
  EXPECT_EQ(machine_.asked, 1);
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(2)}), "401010 403010r thread start");
  EXPECT_EQ(machine_.asked, 1) << "there is a rule";
}

TEST_F(ManagedFramesTest, NobodyIsAskedInAnImage) {
  EXPECT_EQ(Unwind(InFunction(0), {InFunction(2)}), "401010 403010r thread start");
  EXPECT_EQ(machine_.asked, 0);
}

}  // namespace
}  // namespace profiler::symbolize
