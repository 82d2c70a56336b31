// Tests the steps' questions about code: code_space.h, call_evidence.h and stack_start.h.

#include <string>

#include "symbolize/unwind/call_evidence.h"
#include "symbolize/unwind/stack_start.h"
#include "symbolize/unwind/testing/fake_space.h"

namespace profiler::symbolize {
namespace {

class EvidenceTest : public StepTest {
 protected:
  // Writes `code` at the start of function 0 and padding after it.
  void Code(ByteBuilder code) { memory_->SetMemory(InFunction(0, 0), code.Pad(0x100, 0x90)); }
};

TEST_F(EvidenceTest, AnImageOfAnotherArchitectureHasNoTable) {
  const CodeSpace space(*memory_, Architecture::kI386);
  MappedCode code;
  EXPECT_TRUE(space.Find({kCode}, &code));
  EXPECT_EQ(code.cfi, nullptr);
  EXPECT_TRUE(space_->Find({kCode}, &code));
  EXPECT_EQ(code.cfi, table_.get());
}

TEST_F(EvidenceTest, OnlyAnAddressInCodeAfterACallIsAReturnAddress) {
  CallBefore(InFunction(0));
  EXPECT_TRUE(IsReturnAddress(*space_, InFunction(0)));
  EXPECT_TRUE(MayFollowCall(*space_, InFunction(0)));
  NoCallBefore(InFunction(0));
  EXPECT_FALSE(IsReturnAddress(*space_, InFunction(0)));
  EXPECT_FALSE(MayFollowCall(*space_, InFunction(0)));
  memory_->SetMemory(0x100, {0xe8, 1, 2, 3, 4});
  EXPECT_FALSE(IsReturnAddress(*space_, 0x105));
}

TEST_F(EvidenceTest, AnAddressWhoseCodeCannotBeReadMayFollowACall) {
  EXPECT_FALSE(IsReturnAddress(*space_, InFunction(0)));
  EXPECT_TRUE(MayFollowCall(*space_, InFunction(0)));
}

TEST_F(EvidenceTest, ASystemCallIsRecognizedBeforeTheProgramCounter) {
  memory_->SetMemory(InFunction(0) - 2, {0x0f, 0x05});
  EXPECT_TRUE(FollowsSystemCall(*space_, InFunction(0)));
  EXPECT_FALSE(FollowsSystemCall(*space_, InFunction(0) - 1));
  EXPECT_FALSE(FollowsSystemCall(CodeSpace(*memory_, Architecture::kI386), InFunction(0)));
}

TEST_F(EvidenceTest, ACallMayCallAFunctionThroughAJump) {
  const RuntimeAddress function{InFunction(2, 0)};
  const uint64_t stub = InFunction(1, 0), call = InFunction(0, 0x10);
  const auto distance = [](uint64_t from, uint64_t to) { return static_cast<uint32_t>(to - from); };
  const auto calls = [&](uint64_t target) {
    memory_->SetMemory(call - 8, ByteBuilder{0x90, 0x90, 0x90, 0xe8}.U32(distance(call, target)));
    return CallsFunction(*space_, call, function);
  };
  EXPECT_TRUE(calls(function.value));
  memory_->SetMemory(stub, ByteBuilder{0xe9}.U32(distance(stub + 5, function.value)).Pad(128));
  EXPECT_TRUE(calls(stub));
  memory_->SetMemory(stub, ByteBuilder{0xe9}.U32(distance(stub + 5, function.value + 1)));
  EXPECT_FALSE(calls(stub));
  memory_->SetMemory(stub, ByteBuilder{0xc3});
  EXPECT_FALSE(calls(stub));
  memory_->SetMemory(call - 8, {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0});  // call *%rax
  EXPECT_TRUE(CallsFunction(*space_, call, function));
}

TEST_F(EvidenceTest, CodeThatStopsTheProgramIsAhead) {
  Code({0x48, 0x31, 0xff, 0xe8, 1, 2, 3, 4, 0xf4});
  EXPECT_TRUE(StopsAhead(*space_, {InFunction(0, 0)}));
  Code({0x48, 0x31, 0xff, 0xc3, 0xf4});
  EXPECT_FALSE(StopsAhead(*space_, {InFunction(0, 0)}));
}

TEST_F(EvidenceTest, AFunctionWithoutAReturnNeverReturns) {
  Image({{}});
  const auto returns = [&](ByteBuilder code) {
    Code(std::move(code));
    MappedCode mapped;
    space_->Find({InFunction(0)}, &mapped);
    return !NeverReturns(*space_, mapped, {0x1000});
  };
  EXPECT_FALSE(returns({0x74, 7, 0xe8, 0, 0, 0, 0, 0xeb, 0xfe, 0xe8, 0, 0, 0, 0, 0xf4}));
  EXPECT_TRUE(returns({0x74, 7, 0xe8, 0, 0, 0, 0, 0xeb, 0xfe, 0xe8, 0, 0, 0, 0, 0xc3}));
  EXPECT_TRUE(returns({0xff, 0xe0}));  // jmp *%rax
}

TEST_F(EvidenceTest, TheEntryPointEndsWhereItsCodeDoesNotContinue) {
  Image({}, EM_X86_64, {}, /*entry=*/0x1000);
  MappedCode mapped;
  ASSERT_TRUE(space_->Find({InFunction(0)}, &mapped));
  Code({0x90, 0xe8, 0, 0, 0, 0, 0xf4, 0x90});
  EXPECT_TRUE(IsInEntryPoint(*space_, mapped, {0x1006}));
  EXPECT_FALSE(IsInEntryPoint(*space_, mapped, {0x1007}));
  EXPECT_FALSE(IsInEntryPoint(*space_, mapped, {0xfff}));
  EXPECT_TRUE(IsInFirstFunction(*space_, mapped, {InFunction(0, 6)}));
  mapped.cfi = nullptr;
  EXPECT_FALSE(IsInFirstFunction(*space_, mapped, {InFunction(0, 6)}));
}

}  // namespace
}  // namespace profiler::symbolize
