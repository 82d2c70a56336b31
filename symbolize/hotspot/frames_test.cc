#include "symbolize/hotspot/frames.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "symbolize/hotspot/methods.h"
#include "symbolize/hotspot/testing/fake_vm.h"

namespace profiler::symbolize::hotspot {
namespace {

constexpr uint64_t kMs = 1'000'000;  // ns

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A sink that formats the code it receives: name, size, and places as "distance:line<line …".
class Told final : public CodeSink {
 public:
  void Add(const VmCode& code) override {
    std::string text =
        absl::StrCat(code.is_bytecode ? "bytecode " : "code ",
                     absl::string_view(code.name.data(), code.name.size()), " ", code.bytes.size());
    for (const JitDump::Place& place : code.places) {
      absl::StrAppend(&text, " ", place.distance, ":", place.line);
      for (uint32_t at = place.call; at != JitDump::kNone; at = code.calls[at].caller) {
        absl::StrAppend(&text, "<", code.calls[at].line);
      }
    }
    codes.push_back(std::move(text));
  }
  uint64_t Generation() const override { return generation; }

  std::vector<std::string> codes;
  uint64_t generation = 1;
};

// A stack of words from kStart on.
class Stack final : public MemoryReader {
 public:
  static constexpr uint64_t kStart = 0x7ffe00000000;
  explicit Stack(std::vector<uint64_t> words) : words_(std::move(words)) {}
  bool ReadBytes(uint64_t address, std::span<std::byte> bytes) override {
    const auto all = std::as_bytes(std::span(words_));
    if (address < kStart || address - kStart > all.size() ||
        bytes.size() > all.size() - (address - kStart)) {
      return false;
    }
    std::ranges::copy(all.subspan(address - kStart, bytes.size()), bytes.begin());
    return true;
  }

 private:
  const std::vector<uint64_t> words_;
};

class HotSpotFramesTest : public ::testing::Test {
 protected:
  RegisterSet At(uint64_t pc, uint64_t sp = Stack::kStart, uint64_t fp = 0) {
    RegisterSet registers(Architecture::kX86_64);
    registers.Set(16, pc);
    registers.Set(7, sp);
    registers.Set(6, fp);
    return registers;
  }
  // Formats a step: the caller, and the address listed for the frame.
  std::string Step(const RegisterSet& registers, Stack stack, bool is_return_address = false) {
    const ManagedStep step = frames_.StepFrom({registers, is_return_address}, stack);
    switch (step.kind) {
      case ManagedStep::Kind::kUnknown:
        return "unknown";
      case ManagedStep::Kind::kFrameless:
        return "frameless";
      case ManagedStep::Kind::kLost:
        return "lost";
      case ManagedStep::Kind::kUnreadable:
        return "unreadable";
      case ManagedStep::Kind::kCaller:
        break;
    }
    std::string text = absl::StrCat("pc ", absl::Hex(step.pc), " sp +", step.sp - Stack::kStart,
                                    " fp ", absl::Hex(step.fp));
    if (step.listed.value != 0) absl::StrAppend(&text, " as ", absl::Hex(step.listed.value));
    return text;
  }

  FakeVm vm_;
  Told told_;
  HotSpotFrames frames_{vm_, [this](std::string_view name) { return vm_.FindVariable(name); },
                        told_};
  const uint64_t outer_ = vm_.AddMethod("pkg/Outer", "run", "(I[JLjava/lang/String;)V", 20, 40);
  const uint64_t inner_ = vm_.AddMethod("pkg/Inner", "get", "()I", 8, 7);
  // push rbp; sub rsp, 16; nop …; add rsp, 16; pop rbp; ret
  const std::vector<uint8_t> code_ = {0x55, 0x48, 0x83, 0xec, 0x10, 0x90, 0x90, 0x90,
                                      0x90, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3, 0xf4};
};

TEST_F(HotSpotFramesTest, CompiledCodeHasTheFrameSizeThatItSays) {
  const uint64_t code =
      vm_.AddCode({.bytes = code_, .frame_words = 4, .frame_complete = 5, .method = outer_});
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 0xf9, 0xabc})), "pc abc sp +32 fp f9");
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 0xf9, 0xabc}), true), "pc abc sp +32 fp f9");
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 0xf9})), "unreadable");
  EXPECT_THAT(told_.codes,
              ElementsAre("code void pkg.Outer.run(int, long[], java.lang.String) 16"));
}

TEST_F(HotSpotFramesTest, CompiledCodeThatSetsItsFrameUpOrTakesItDownHasLess) {
  const uint64_t code =
      vm_.AddCode({.bytes = code_, .frame_words = 4, .frame_complete = 5, .method = outer_});
  EXPECT_EQ(Step(At(code, Stack::kStart, 0xf9), Stack({0xabc})), "pc abc sp +8 fp f9");
  EXPECT_EQ(Step(At(code + 1), Stack({0xf9, 0xabc})), "pc abc sp +16 fp f9");
  EXPECT_EQ(Step(At(code + 9), Stack({1, 2, 0xf9, 0xabc})), "pc abc sp +32 fp f9");
  EXPECT_EQ(Step(At(code + 13), Stack({0xf9, 0xabc})), "pc abc sp +16 fp f9");
  EXPECT_EQ(Step(At(code + 14, Stack::kStart, 0xf9), Stack({0xabc})), "pc abc sp +8 fp f9");
}

TEST_F(HotSpotFramesTest, InlinedCallsAreToldWithTheirLines) {
  const uint64_t code = vm_.AddCode({.bytes = code_,
                                     .frame_words = 4,
                                     .frame_complete = 5,
                                     .method = outer_,
                                     .scopes = {{0, outer_, 3}, {1, inner_, 5}, {0, outer_, 9}},
                                     .places = {{6, 0}, {8, 1}, {14, 2}}});
  Step(At(code + 7), Stack({1, 2, 3, 4}));
  EXPECT_THAT(told_.codes, ElementsAre("code void pkg.Outer.run(int, long[], java.lang.String) 16 "
                                       "0:43 6:12<43 8:49 14:0"));
}

TEST_F(HotSpotFramesTest, AnInterpretedFrameIsListedAtItsBytecode) {
  const uint64_t interpreter =
      vm_.AddCode({.name = "Interpreter", .bytes = std::vector<uint8_t>(4096, 0x90)});
  const uint64_t bytecode = vm_.BytecodesOf(inner_) + 5;
  // bcp, locals, cache, profile, mirror, method, sp at its call, caller's sp, caller's fp, pc
  const uint64_t fp = Stack::kStart + 9 * 8, sender = Stack::kStart + 12 * 8;
  const auto stack = [&](uint64_t at, uint64_t method, uint64_t called) {
    return Stack({0, at, 0, 0, 0, 0, method, called, sender, 0xf9, 0xabc});
  };
  EXPECT_EQ(Step(At(interpreter + 99, Stack::kStart, fp), stack(bytecode, inner_, 8), true),
            absl::StrCat("pc abc sp +96 fp f9 as ", absl::Hex(bytecode)));
  RegisterSet leaf = At(interpreter + 99, Stack::kStart, fp);
  leaf.Set(13, bytecode + 1);
  EXPECT_EQ(Step(leaf, stack(bytecode, inner_, 0)),
            absl::StrCat("pc abc sp +96 fp f9 as ", absl::Hex(bytecode + 1)));
  EXPECT_EQ(Step(At(interpreter + 99, Stack::kStart, fp), stack(bytecode, 0x1234, 8), true),
            "lost");
  EXPECT_THAT(told_.codes, ElementsAre("code Interpreter 4096",
                                       "bytecode int pkg.Inner.get() 56 48:7 49:8 50:9 51:10 "
                                       "52:11 53:12 54:13 55:14"));
}

TEST_F(HotSpotFramesTest, AMethodThatIsEnteredIsKnownByTheRegisters) {
  const uint64_t interpreter =
      vm_.AddCode({.name = "Interpreter", .bytes = std::vector<uint8_t>(4096, 0x90)});
  RegisterSet registers = At(interpreter + 99, Stack::kStart, 0xf8);
  registers.Set(3, inner_);
  registers.Set(13, Stack::kStart + 16);
  EXPECT_EQ(Step(registers, Stack({interpreter + 200, 0})),
            absl::StrCat("pc ", absl::Hex(interpreter + 200), " sp +16 fp f8 as ",
                         absl::Hex(vm_.BytecodesOf(inner_))));
}

TEST_F(HotSpotFramesTest, AStubIsLeftByTheReturnAddressThatIsBehindACall) {
  const uint64_t stub = vm_.AddCode({.name = "StubRoutines (1)", .bytes = {0x90, 0x90, 0x90}});
  // The code has a call; the return address is 8 bytes behind the start of the code.
  const uint64_t caller = vm_.AddCode({.bytes = {0x90, 0x90, 0x90, 0xe8, 0, 0, 0, 0, 0x90, 0xc3},
                                       .frame_words = 2,
                                       .frame_complete = 0,
                                       .method = outer_});
  const std::string after = absl::StrCat("pc ", absl::Hex(caller + 8));
  EXPECT_EQ(Step(At(stub + 1), Stack({caller + 8, 0})), after + " sp +8 fp 0");
  EXPECT_EQ(Step(At(stub + 1), Stack({caller + 2, caller + 8, 0})), after + " sp +16 fp 0");
  EXPECT_EQ(Step(At(stub + 1), Stack({caller + 2, 0})), "unknown");
}

TEST_F(HotSpotFramesTest, CodeThatTakesThePlaceOfOtherCodeIsToldAnew) {
  const uint64_t code =
      vm_.AddCode({.bytes = code_, .frame_words = 4, .frame_complete = 5, .method = outer_});
  Step(At(code + 7), Stack({1, 2, 3, 4}));
  vm_.ReplaceMethod(code, inner_, 7);
  Step(At(code + 7), Stack({1, 2, 3, 4}));
  EXPECT_EQ(told_.codes.size(), 1u) << "as long as nothing is looked at again";
  frames_.Refresh();
  Step(At(code + 7), Stack({1, 2, 3, 4}));
  EXPECT_EQ(told_.codes.back(), "code int pkg.Inner.get() 16");
  told_.generation = 2;
  Step(At(code + 7), Stack({1, 2, 3, 4}));
  EXPECT_EQ(told_.codes.size(), 3u) << "as it may be covered";
}

TEST_F(HotSpotFramesTest, CodeThatIsGoneEndsTheChain) {
  const uint64_t code = vm_.AddCode({.bytes = code_, .frame_words = 4, .method = outer_});
  vm_.RemoveCode(code);
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 3, 4})), "lost");
  EXPECT_EQ(Step(At(0x1234), Stack({1, 2, 3, 4})), "unknown");
  EXPECT_THAT(told_.codes, IsEmpty());
}

// ---- memory is read after the sample

TEST_F(HotSpotFramesTest, CodeIsKnownIfItWasListedBeforeTheSample) {
  const uint64_t code = vm_.AddCode({.bytes = code_, .frame_words = 4, .method = outer_});
  vm_.now = 100 * kMs;
  frames_.Prepare();
  frames_.Refresh();
  frames_.SetTime(99 * kMs);
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 0xf9, 0xabc})), "lost");
  EXPECT_THAT(told_.codes, IsEmpty());
  frames_.SetTime(100 * kMs);
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 0xf9, 0xabc})), "pc abc sp +32 fp f9");
  EXPECT_EQ(told_.codes.size(), 1u);
}

TEST_F(HotSpotFramesTest, CodeThatIsMadeLaterIsKnownFromTheNextLookOn) {
  vm_.AddCode({.bytes = code_, .frame_words = 4, .method = outer_});
  vm_.now = 100 * kMs;
  frames_.Prepare();
  const uint64_t code = vm_.AddCode({.bytes = code_, .frame_words = 4, .method = inner_});
  vm_.now = 200 * kMs;
  frames_.Refresh();
  frames_.SetTime(150 * kMs);
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 0xf9, 0xabc})), "lost");
  vm_.now = 300 * kMs;
  frames_.Refresh();
  frames_.SetTime(250 * kMs);
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 0xf9, 0xabc})), "pc abc sp +32 fp f9");
  EXPECT_THAT(told_.codes, ElementsAre("code int pkg.Inner.get() 16"));
}

// The code is listed at most every 20 ms.
TEST_F(HotSpotFramesTest, ALookSoonAfterAnotherDoesNotProveCodeThatIsNew) {
  vm_.AddCode({.bytes = code_, .frame_words = 4, .method = outer_});
  vm_.now = 100 * kMs;
  frames_.Prepare();
  const uint64_t code = vm_.AddCode({.bytes = code_, .frame_words = 4, .method = inner_});
  vm_.now = 119 * kMs;
  frames_.Refresh();
  vm_.now = 130 * kMs;
  frames_.Refresh();
  frames_.SetTime(125 * kMs);
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 0xf9, 0xabc})), "lost");
  vm_.now = 131 * kMs;
  frames_.Refresh();
  frames_.SetTime(130 * kMs);
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 0xf9, 0xabc})), "pc abc sp +32 fp f9");
}

TEST_F(HotSpotFramesTest, CodeThatWasReplacedSinceTheSampleHasNoName) {
  const uint64_t code = vm_.AddCode({.bytes = code_, .frame_words = 4, .method = outer_});
  vm_.now = 100 * kMs;
  frames_.Prepare();
  frames_.SetTime(110 * kMs);
  Step(At(code + 7), Stack({1, 2, 3, 4}));
  vm_.ReplaceMethod(code, inner_, 7);
  vm_.now = 200 * kMs;
  frames_.Refresh();
  frames_.SetTime(150 * kMs);
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 0xf9, 0xabc})), "lost");
  EXPECT_EQ(told_.codes.back(), "code [unknown code] 16");
  EXPECT_EQ(told_.codes.size(), 2u);
  frames_.SetTime(250 * kMs);
  Step(At(code + 7), Stack({1, 2, 3, 4}));
  EXPECT_EQ(told_.codes.back(), "code int pkg.Inner.get() 16");
}

// If there was no code at an address before, the sample was most likely in the new code there.
TEST_F(HotSpotFramesTest, TheCallerOfFreshCodeIsGuessedAndTheCodeHasNoName) {
  const uint64_t caller = vm_.AddCode({.bytes = {0x90, 0x90, 0x90, 0xe8, 0, 0, 0, 0, 0x90, 0xc3},
                                       .frame_words = 2,
                                       .frame_complete = 0,
                                       .method = outer_});
  vm_.now = 100 * kMs;
  frames_.Prepare();
  const uint64_t code = vm_.AddCode({.bytes = code_, .frame_words = 4, .method = inner_});
  vm_.now = 200 * kMs;
  frames_.Refresh();
  frames_.SetTime(150 * kMs);
  const RegisterSet registers = At(code + 7);
  Stack stack({1, 2, 0xf9, caller + 8});
  const ManagedStep step = frames_.StepFrom({registers, false}, stack);
  EXPECT_EQ(step.kind, ManagedStep::Kind::kCaller);
  EXPECT_EQ(step.pc, caller + 8);
  EXPECT_TRUE(step.is_guessed);
  EXPECT_EQ(step.listed.value, 0u);
  EXPECT_THAT(told_.codes, IsEmpty());
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 0xf9, caller + 7})), "lost") << "behind no call";
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 0xf9, 0xabc})), "lost");
}

// A method is compiled again, to the address of its old code, with another frame.
TEST_F(HotSpotFramesTest, CodeOfTheSameMethodWithAnotherCompileIdIsOtherCode) {
  const uint64_t code = vm_.AddCode({.bytes = code_, .frame_words = 4, .method = outer_});
  vm_.now = 100 * kMs;
  frames_.Prepare();
  vm_.ReplaceMethod(code, outer_, 7);
  vm_.now = 200 * kMs;
  frames_.Refresh();
  frames_.SetTime(150 * kMs);
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 0xf9, 0xabc})), "lost");
}

TEST_F(HotSpotFramesTest, CodeThatIsFreedTakesItsNameAlong) {
  const uint64_t code = vm_.AddCode({.bytes = code_, .frame_words = 4, .method = outer_});
  vm_.now = 100 * kMs;
  frames_.Prepare();
  frames_.SetTime(110 * kMs);
  Step(At(code + 7), Stack({1, 2, 3, 4}));
  vm_.RemoveCode(code);
  frames_.Refresh();
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 3, 4})), "lost");
  EXPECT_EQ(told_.codes.back(), "code [unknown code] 16");
}

TEST_F(HotSpotFramesTest, NothingIsGuessedWhenTheProcessHasEnded) {
  const uint64_t code = vm_.AddCode({.bytes = code_, .frame_words = 4, .method = outer_});
  Step(At(code + 7), Stack({1, 2, 3, 4}));
  vm_.memory().clear();
  frames_.Refresh();
  EXPECT_EQ(Step(At(code + 7), Stack({1, 2, 3, 4})), "lost");
}

// If the code is replaced at any time while it is read, the sink gets the right code or none.
TEST_F(HotSpotFramesTest, CodeThatIsReplacedWhileItIsReadHasNoOtherName) {
  const uint64_t code = vm_.AddCode({.bytes = code_, .frame_words = 4, .method = outer_});
  const std::vector<std::byte> sound = vm_.memory();
  int named = 0, nameless = 0;
  for (uint64_t at = 1; at < 200; ++at) {
    vm_.memory() = sound;
    HotSpotFrames frames(
        vm_, [this](std::string_view name) { return vm_.FindVariable(name); }, told_);
    vm_.now = 100 * kMs;
    frames.Prepare();
    frames.Refresh();
    frames.SetTime(150 * kMs);
    told_.codes.clear();
    vm_.reads = 0;
    vm_.on_read = [&](uint64_t number) {
      if (number == at) vm_.ReplaceMethod(code, inner_, 7), vm_.now = 200 * kMs;
    };
    Stack stack({1, 2, 3, 4});
    const RegisterSet registers = At(code + 7);
    static_cast<void>(frames.StepFrom({registers, false}, stack));
    vm_.on_read = nullptr;
    for (const std::string& text : told_.codes) {
      EXPECT_TRUE(text.starts_with("code void pkg.Outer.run(")) << text << " at " << at;
    }
    (told_.codes.empty() ? nameless : named) += 1;
  }
  EXPECT_GT(named, 0);
  EXPECT_GT(nameless, 0);
}

TEST_F(HotSpotFramesTest, TheInterpreterIsNeverReplaced) {
  const uint64_t interpreter =
      vm_.AddCode({.name = "Interpreter", .bytes = std::vector<uint8_t>(4096, 0x90)});
  vm_.now = 100 * kMs;
  frames_.SetTime(50 * kMs);
  const uint64_t fp = Stack::kStart + 9 * 8;
  const Stack stack({0, vm_.BytecodesOf(inner_), 0, 0, 0, 0, inner_, 8, fp + 24, 0xf9, 0xabc});
  EXPECT_EQ(Step(At(interpreter + 99, Stack::kStart, fp), stack, true), "pc abc sp +96 fp f9")
      << "but of the method nobody knows whether it is the one of the sample";
  EXPECT_THAT(told_.codes, ElementsAre("code Interpreter 4096"));
}

TEST_F(HotSpotFramesTest, AMethodIsKnownIfNoClassWasUnloadedSinceTheSample) {
  const uint64_t interpreter =
      vm_.AddCode({.name = "Interpreter", .bytes = std::vector<uint8_t>(4096, 0x90)});
  vm_.PutCounters();
  vm_.now = 100 * kMs;
  frames_.Prepare();
  vm_.now = 200 * kMs;
  frames_.Refresh();
  frames_.SetTime(150 * kMs);
  const uint64_t fp = Stack::kStart + 9 * 8;
  const auto stack = [&](uint64_t method) {
    return Stack({0, vm_.BytecodesOf(method), 0, 0, 0, 0, method, 8, fp + 24, 0xf9, 0xabc});
  };
  const RegisterSet frame = At(interpreter + 99, Stack::kStart, fp);
  EXPECT_EQ(Step(frame, stack(inner_), true),
            absl::StrCat("pc abc sp +96 fp f9 as ", absl::Hex(vm_.BytecodesOf(inner_))));
  vm_.CountUnloadedClass();
  EXPECT_EQ(Step(frame, stack(outer_), true), "pc abc sp +96 fp f9");
  vm_.now = 300 * kMs;
  frames_.Refresh();
  frames_.SetTime(250 * kMs);
  EXPECT_EQ(Step(frame, stack(outer_), true),
            absl::StrCat("pc abc sp +96 fp f9 as ", absl::Hex(vm_.BytecodesOf(outer_))));
}

// Classes of the same size may get the same addresses.
TEST_F(HotSpotFramesTest, AnotherClassAtTheSameAddressesHasItsOwnName) {
  const uint64_t interpreter =
      vm_.AddCode({.name = "Interpreter", .bytes = std::vector<uint8_t>(4096, 0x90)});
  vm_.now = 100 * kMs;
  frames_.Prepare();
  const uint64_t fp = Stack::kStart + 9 * 8;
  const Stack stack({0, vm_.BytecodesOf(inner_), 0, 0, 0, 0, inner_, 8, fp + 24, 0xf9, 0xabc});
  const RegisterSet frame = At(interpreter + 99, Stack::kStart, fp);
  Step(frame, stack, true);
  EXPECT_TRUE(told_.codes.back().starts_with("bytecode int pkg.Inner.get()"));
  vm_.RenameHolder(inner_, "pkg/Other");
  vm_.now = 200 * kMs;
  frames_.Refresh();
  frames_.SetTime(150 * kMs);
  const size_t before = told_.codes.size();
  EXPECT_EQ(Step(frame, stack, true), "pc abc sp +96 fp f9");
  EXPECT_EQ(told_.codes.size(), before);
  frames_.SetTime(250 * kMs);
  Step(frame, stack, true);
  EXPECT_TRUE(told_.codes.back().starts_with("bytecode int pkg.Other.get()"));
}

TEST_F(HotSpotFramesTest, AFrameThatIsToBeDeoptimizedIsListedWhereItWas) {
  const uint64_t code = vm_.AddCode({.bytes = code_,
                                     .frame_words = 4,
                                     .frame_complete = 5,
                                     .method = outer_,
                                     .deopt_handler = 15,
                                     .orig_pc = 8});
  EXPECT_EQ(Step(At(code + 15), Stack({1, code + 8, 0xf9, 0xabc}), true),
            absl::StrCat("pc abc sp +32 fp f9 as ", absl::Hex(code + 7)));
  EXPECT_EQ(Step(At(code + 15), Stack({1, 2, 0xf9, 0xabc}), true), "pc abc sp +32 fp f9");
}

// HotSpot writes a jump over the first instruction of a method that must not be entered any more.
TEST_F(HotSpotFramesTest, AMethodWhoseBeginWasOverwrittenIsLostInItsBegin) {
  std::vector<uint8_t> bytes = code_;
  bytes[0] = 0xeb, bytes[1] = 0x00;  // jmp
  const uint64_t code =
      vm_.AddCode({.bytes = bytes, .frame_words = 4, .frame_complete = 5, .method = outer_});
  EXPECT_EQ(Step(At(code + 4), Stack({1, 2, 0xf9, 0xabc})), "lost");
}

TEST_F(HotSpotFramesTest, AProcessWithoutTheTablesIsUnknownAndLookedAtOnceInAWhile) {
  HotSpotFrames frames(
      vm_, [](std::string_view) { return std::nullopt; }, told_);
  const uint64_t code = vm_.AddCode({.bytes = code_, .frame_words = 4, .method = outer_});
  Stack stack({1, 2, 3, 4});
  vm_.reads = 0;
  for (int i = 0; i < 100; ++i) {
    const RegisterSet registers = At(code + 7);
    EXPECT_EQ(frames.StepFrom({registers, false}, stack).kind, ManagedStep::Kind::kUnknown);
  }
  EXPECT_EQ(vm_.reads, 0u);
}

// For any memory contents, each step needs a bounded number of reads, and all code passed to the
// sink can be written to a dump.
TEST_F(HotSpotFramesTest, CorruptMemoryEndsEachStepInBoundedTime) {
  const uint64_t interpreter =
      vm_.AddCode({.name = "Interpreter", .bytes = std::vector<uint8_t>(4096, 0x90)});
  const uint64_t code = vm_.AddCode({.bytes = code_,
                                     .frame_words = 4,
                                     .frame_complete = 5,
                                     .method = outer_,
                                     .scopes = {{0, outer_, 3}, {1, inner_, 5}},
                                     .places = {{6, 0}, {8, 1}}});
  const std::vector<std::byte> sound = vm_.memory();
  std::vector<size_t> used;
  for (size_t i = 0; i < sound.size(); ++i) {
    if (sound[i] != std::byte{0} && sound[i] != std::byte{0xff}) used.push_back(i);
  }
  std::mt19937_64 random(1);
  const uint64_t fp = Stack::kStart + 9 * 8;
  uint64_t most = 0;
  for (int round = 0; round < 3000; ++round) {
    vm_.memory() = sound;
    for (int flips = 0; flips < 1 + round % 40; ++flips) {
      vm_.memory()[used[random() % used.size()]] ^= std::byte(1 << (random() % 8));
    }
    HotSpotFrames frames(
        vm_, [this](std::string_view name) { return vm_.FindVariable(name); }, told_);
    vm_.reads = 0;
    for (const uint64_t pc : {code + 7, code + 1, interpreter + 99}) {
      Stack stack(
          {random(), vm_.BytecodesOf(inner_), 0, 0, 0, 0, inner_, 0, fp + 24, fp + 64, code});
      const RegisterSet registers = At(pc, Stack::kStart, fp);
      const ManagedStep step = frames.StepFrom({registers, (round & 1) != 0}, stack);
      if (step.kind == ManagedStep::Kind::kCaller) {
        EXPECT_GE(step.frame_end, Stack::kStart);
      }
    }
    most = std::max(most, vm_.reads);
    told_.codes.clear();
  }
  EXPECT_LT(most, 200'000u);
}

TEST(MethodName, IsSpelledAsJavaDoes) {
  EXPECT_EQ(MethodName("pkg/C", "f", "()V"), "void pkg.C.f()");
  EXPECT_EQ(MethodName("C", "<init>", "([[Lp/D;ZBCSJFD)[I"),
            "int[] C.<init>(p.D[][], boolean, byte, char, short, long, float, double)");
  EXPECT_EQ(MethodName("J$$Lambda$1+0x00007f02c4000a08", "run", "()V"),
            "void J$$Lambda$1/0x00007f02c4000a08.run()");
}

TEST(MethodName, IsEmptyForWhatIsNoDescriptor) {
  for (const char* const descriptor :
       {"", "V", "(", "()", "(V", "(L;)V", "(Lx)V", "(Q)V", "()VV", "([)V", "()["}) {
    EXPECT_EQ(MethodName("C", "f", descriptor), "") << descriptor;
  }
  EXPECT_EQ(MethodName("", "f", "()V"), "");
}

}  // namespace
}  // namespace profiler::symbolize::hotspot
