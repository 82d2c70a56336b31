#include "symbolize/v8/frames.h"

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/v8/testing/fake_heap.h"

namespace profiler::symbolize::v8 {
namespace {

constexpr uint64_t kStack = 0x7000000;
constexpr size_t kWords = 64;
constexpr uint64_t kInterpreter = 0x400000, kCompiled = 0x900000;

class FakeStack : public MemoryReader {
 public:
  bool ReadBytes(uint64_t address, std::span<std::byte> bytes) override {
    const uint64_t offset = address - kStack;
    if (offset > sizeof(words) || bytes.size() > sizeof(words) - offset) return false;
    std::memcpy(bytes.data(), reinterpret_cast<const std::byte*>(words.data()) + offset,
                bytes.size());
    return true;
  }
  std::array<uint64_t, kWords> words{};
};

class Names : public CodeSink {
 public:
  void Add(const VmCode& code) override {
    EXPECT_TRUE(code.is_bytecode);
    EXPECT_FALSE(code.bytes.empty());
    EXPECT_EQ(code.name.find('\0'), code.name.npos);
    by_address[code.start.value] = std::string(code.name);
    ++given;
  }
  uint64_t Generation() const override { return generation; }
  bool LeavesCompiled() const override { return leaves_compiled; }

  std::map<uint64_t, std::string> by_address;
  int given = 0;
  uint64_t generation = 1;
  bool leaves_compiled = false;
};

// A frame with its frame pointer at word 20 of the stack, and the stack pointer at word 10.
class FramesTest : public testing::Test {
 protected:
  static constexpr size_t kFp = 20, kSp = 10;

  void SetFrame(Word function, Word context, Word bytecode) {
    stack_.words[kFp - 4] = bytecode;
    stack_.words[kFp - 2] = function;
    stack_.words[kFp - 1] = context;
    stack_.words[kFp] = kStack + 8 * 30;
    stack_.words[kFp + 1] = 0x1234;
  }

  ManagedStep StepAt(uint64_t pc, bool is_return_address = true, size_t sp = kSp) {
    RegisterSet registers(Architecture::kX86_64);
    const RegisterNumbers numbers = NumbersOf(Architecture::kX86_64);
    registers.Set(numbers.pc, pc);
    registers.Set(numbers.sp, kStack + 8 * sp);
    registers.Set(numbers.fp, kStack + 8 * kFp);
    return frames_.StepFrom({registers, is_return_address, pc >= kInterpreter && pc < kCompiled},
                            stack_);
  }

  // Formats a step as "JS:~f /app.js:1:11, to 1234".
  std::string Step(uint64_t pc, bool is_return_address = true, size_t sp = kSp) {
    const ManagedStep step = StepAt(pc, is_return_address, sp);
    if (step.kind == ManagedStep::Kind::kFrameless) return "frameless";
    if (step.kind != ManagedStep::Kind::kCaller) return "unknown";
    const auto found = names_.by_address.find(step.listed.value);
    const std::string name = found == names_.by_address.end() ? "itself" : found->second;
    return absl::StrCat(name, ", to ", absl::Hex(step.pc));
  }

  FakeHeap heap_;
  FakeStack stack_;
  Names names_;
  Frames frames_{heap_, heap_.metadata(), names_};
};

TEST_F(FramesTest, AnInterpretedFunctionIsNamedByItsBytecodes) {
  const Word code = heap_.Bytecode(), context = heap_.Context();
  SetFrame(heap_.Function(heap_.Shared({}, code), context), heap_.Context(), code);
  EXPECT_EQ(Step(kInterpreter), "JS:~f /app.js:1:11, to 1234");
  const ManagedStep step = StepAt(kInterpreter);
  EXPECT_EQ(step.sp, kStack + 8 * (kFp + 2));
  EXPECT_EQ(step.fp, kStack + 8 * 30);
}

TEST_F(FramesTest, OtherBytecodesThanTheFramesOwnAreAnotherFunction) {
  const Word context = heap_.Context();
  SetFrame(heap_.Function(heap_.Shared({}, heap_.Bytecode()), context), context, heap_.Bytecode());
  EXPECT_EQ(Step(kInterpreter), "unknown");
}

TEST_F(FramesTest, BaselineCodeIsToldFromTheInterpreter) {
  const Word code = heap_.Bytecode(), context = heap_.Context();
  SetFrame(heap_.Function(heap_.Shared({}, heap_.Baseline(code)), context), context, code);
  EXPECT_EQ(Step(kCompiled), "JS:^f /app.js:1:11, to 1234");
  EXPECT_EQ(Step(kInterpreter), "JS:~f /app.js:1:11, to 1234");
}

TEST_F(FramesTest, OptimisedCodeIsWhoseItSays) {
  const Word context = heap_.Context(), shared = heap_.Shared({}, heap_.Bytecode());
  const Word code = heap_.Optimised(shared, 1);
  SetFrame(heap_.Function(shared, context, code), context, FakeHeap::Small(3));
  const uint64_t pc = heap_.StartOf(code) + 8;
  EXPECT_EQ(Step(pc), "JS:*f /app.js:1:11, to 1234");
  EXPECT_EQ(Step(heap_.StartOf(code) + 64), "JS:*f /app.js:1:11, to 1234") << "its last call";
  EXPECT_EQ(Step(heap_.StartOf(code) + 65), "itself, to 1234");
}

TEST_F(FramesTest, OptimisedCodeThatIsInUseIsKnownWhenItsFunctionHasOther) {
  const Word context = heap_.Context(), shared = heap_.Shared({}, heap_.Bytecode());
  const Word code = heap_.Optimised(shared, 1);
  const Word function = heap_.Function(shared, context, code);
  SetFrame(function, context, FakeHeap::Small(3));
  const uint64_t pc = heap_.StartOf(code) + 8;
  EXPECT_EQ(Step(pc), "JS:*f /app.js:1:11, to 1234");
  heap_.Set(function, heap_.metadata().function_code, heap_.Optimised(shared, 2));
  frames_.Refresh();
  EXPECT_EQ(Step(pc), "JS:*f /app.js:1:11, to 1234");
}

TEST_F(FramesTest, FunctionsOfTheSameContextDoNotNameOthersCode) {
  const Word context = heap_.Context(), shared = heap_.Shared({}, heap_.Bytecode());
  SetFrame(heap_.Function(shared, context, heap_.Optimised(shared, 1)), context, 0);
  EXPECT_EQ(Step(kCompiled), "itself, to 1234");
  SetFrame(heap_.Function(shared, context), heap_.Context(), 0);
  EXPECT_EQ(Step(kCompiled), "unknown");
}

// ---- memory is read after the sample

TEST_F(FramesTest, AFunctionIsKnownIfItWasMetBeforeTheSample) {
  const Word code = heap_.Bytecode(), context = heap_.Context();
  SetFrame(heap_.Function(heap_.Shared({}, code), context), context, code);
  heap_.now = 100;
  frames_.SetTime(99);
  EXPECT_EQ(Step(kInterpreter), "[unknown JavaScript], to 1234");
  EXPECT_EQ(names_.given, 1);
  frames_.SetTime(100);
  EXPECT_EQ(Step(kInterpreter), "JS:~f /app.js:1:11, to 1234");
}

TEST_F(FramesTest, AFunctionThatTookThePlaceOfAnotherOneSinceTheSampleHasNoName) {
  const Word code = heap_.Bytecode(), context = heap_.Context();
  const Word shared = heap_.Shared({}, code);
  SetFrame(heap_.Function(shared, context), context, code);
  heap_.now = 100;
  EXPECT_EQ(Step(kInterpreter), "JS:~f /app.js:1:11, to 1234");
  heap_.Set(shared, heap_.metadata().shared_name_or_scope_info, heap_.ScopeInfo({.name = "g"}));
  heap_.now = 200;
  frames_.Refresh();
  frames_.SetTime(150);
  EXPECT_EQ(Step(kInterpreter), "[unknown JavaScript], to 1234");
  EXPECT_EQ(names_.given, 2);
  frames_.SetTime(250);
  EXPECT_EQ(Step(kInterpreter), "JS:~g /app.js:1:11, to 1234");
}

// After a collection, all objects of a function may be at the addresses of another one's objects.
TEST_F(FramesTest, AFunctionAtTheAddressesOfAnotherOneHasItsOwnName) {
  const Word code = heap_.Bytecode(), context = heap_.Context();
  const Word name = heap_.String("before");
  const Word scope = heap_.ScopeInfo({.name = "x"});
  heap_.Set(scope, 8 + 3 * 8, name);
  const Word script = heap_.Script(heap_.String("/app.js"), heap_.String("function f() {\n}\n"));
  SetFrame(heap_.Function(heap_.SharedOf(scope, script, code), context), context, code);
  heap_.now = 100;
  EXPECT_EQ(Step(kInterpreter), "JS:~before /app.js:1:11, to 1234");
  std::memcpy(heap_.bytes().data() + (FakeHeap::AddressOf(name) - FakeHeap::kStart) + 16, "behind",
              6);
  heap_.now = 200;
  frames_.Refresh();
  frames_.SetTime(150);
  EXPECT_EQ(Step(kInterpreter), "[unknown JavaScript], to 1234");
  frames_.SetTime(250);
  EXPECT_EQ(Step(kInterpreter), "JS:~behind /app.js:1:11, to 1234");
}

TEST_F(FramesTest, BytecodesThatAreNewSinceTheSampleAreNotItsFunctions) {
  const Word before = heap_.Bytecode(), now = heap_.Bytecode(), context = heap_.Context();
  const Word shared = heap_.Shared({}, before);
  const Word function = heap_.Function(shared, context);
  SetFrame(function, context, before);
  heap_.now = 100;
  Step(kInterpreter);
  heap_.Set(shared, heap_.metadata().shared_data, now);
  SetFrame(function, context, now);
  heap_.now = 200;
  frames_.Refresh();
  frames_.SetTime(150);
  EXPECT_EQ(Step(kInterpreter), "[unknown JavaScript], to 1234");
}

// Code is freed, and code of the same size is created at the same address.
TEST_F(FramesTest, OptimisedCodeWithAnotherNumberIsOtherCode) {
  const Word context = heap_.Context(), shared = heap_.Shared({}, heap_.Bytecode());
  const Word other = heap_.Shared({.name = "g"}, heap_.Bytecode());
  const Word code = heap_.Optimised(shared, 1);
  const Word function = heap_.Function(shared, context, code);
  SetFrame(function, context, 0);
  const uint64_t pc = heap_.StartOf(code) + 8;
  heap_.now = 100;
  EXPECT_EQ(Step(pc), "JS:*f /app.js:1:11, to 1234");
  for (const Word next : {shared, other}) {
    const Word data = heap_.Object(175, 16);
    heap_.Set(data, 16 + 5 * 8, FakeHeap::Small(heap_.now == 100 ? 2 : 3));
    heap_.Set(data, 16 + 6 * 8, next);
    heap_.Set(code, heap_.metadata().code_bytecode, data);
    heap_.Set(function, heap_.metadata().function_shared, next);
    heap_.now += 100;
    frames_.Refresh();
    frames_.SetTime(heap_.now - 50);
    EXPECT_EQ(Step(pc), "itself, to 1234");
  }
  frames_.SetTime(heap_.now);
  EXPECT_EQ(Step(pc), "JS:*g /app.js:1:11, to 1234");
}

// The instructions show if an interrupted function has a frame, so they must be known.
TEST_F(FramesTest, InterruptedCodeThatIsNotKnownIsLeftAlone) {
  const Word context = heap_.Context(), shared = heap_.Shared({}, heap_.Bytecode());
  const Word code = heap_.Optimised(shared, 1);
  SetFrame(heap_.Function(shared, context, code), context, 0);
  heap_.now = 100;
  frames_.SetTime(50);
  EXPECT_EQ(Step(heap_.StartOf(code) + 8, false), "unknown");
  frames_.SetTime(150);
  EXPECT_EQ(Step(heap_.StartOf(code) + 8, false), "JS:*f /app.js:1:11, to 1234");
}

TEST_F(FramesTest, AFunctionThatIsReplacedWhileItIsReadHasNoOtherName) {
  const Word code = heap_.Bytecode(), context = heap_.Context();
  const Word shared = heap_.Shared({}, code);
  const Word other = heap_.ScopeInfo({.name = "g"});
  SetFrame(heap_.Function(shared, context), context, code);
  const std::vector<std::byte> sound = heap_.bytes();
  int named = 0, nameless = 0;
  for (size_t at = 1; at < 60; ++at) {
    heap_.bytes() = sound;
    Names names;
    Frames frames(heap_, heap_.metadata(), names);
    const auto step = [&] {
      RegisterSet registers(Architecture::kX86_64);
      const RegisterNumbers numbers = NumbersOf(Architecture::kX86_64);
      registers.Set(numbers.pc, kInterpreter);
      registers.Set(numbers.sp, kStack + 8 * kSp);
      registers.Set(numbers.fp, kStack + 8 * kFp);
      return frames.StepFrom({registers, true, true}, stack_);
    };
    heap_.now = 100;
    frames.SetTime(100);
    step();
    names.by_address.clear();
    ++names.generation;
    frames.Refresh();
    frames.SetTime(150);
    const size_t before = heap_.reads();
    heap_.on_read = [&](size_t number) {
      if (number != before + at) return;
      heap_.Set(shared, heap_.metadata().shared_name_or_scope_info, other);
      heap_.now = 200;
    };
    step();
    frames.Refresh();
    step();
    heap_.on_read = nullptr;
    bool is_named = false;
    for (const auto& [address, name] : names.by_address) {
      if (name == "[unknown JavaScript]") continue;
      EXPECT_EQ(name, "JS:~f /app.js:1:11") << at;
      is_named = true;
    }
    (is_named ? named : nameless) += 1;
  }
  EXPECT_GT(named, 0);
  EXPECT_GT(nameless, 0);
}

TEST_F(FramesTest, CompiledCodeOfWhichTheProcessTellsIsListedAsItself) {
  const Word context = heap_.Context(), bytecode = heap_.Bytecode();
  const Word function = heap_.Function(heap_.Shared({}, bytecode), context);
  SetFrame(function, context, FakeHeap::Small(3));
  names_.leaves_compiled = true;
  EXPECT_EQ(Step(kCompiled), "itself, to 1234");
  SetFrame(function, context, bytecode);
  EXPECT_EQ(Step(kInterpreter), "JS:~f /app.js:1:11, to 1234");
}

TEST_F(FramesTest, FramesThatAreNoFunctionsAreLeftAlone) {
  const Word context = heap_.Context();
  const Word function = heap_.Function(heap_.Shared({}, heap_.Bytecode()), context);
  SetFrame(function, FakeHeap::Small(17), FakeHeap::Small(0));
  EXPECT_EQ(Step(kCompiled), "unknown");
  SetFrame(heap_.String("f"), context, FakeHeap::Small(0));
  EXPECT_EQ(Step(kCompiled), "unknown");
}

TEST_F(FramesTest, OptimisedCodeOfTheImageHasTheNamesOfTheImage) {
  const Word context = heap_.Context();
  SetFrame(heap_.Function(heap_.Shared({}, heap_.Bytecode()), context), context, 0);
  EXPECT_EQ(Step(kInterpreter), "unknown");
}

TEST_F(FramesTest, WordsBelowTheStackPointerAreNotTheFrames) {
  const Word code = heap_.Bytecode(), context = heap_.Context();
  SetFrame(heap_.Function(heap_.Shared({}, code), context), heap_.Context(), code);
  EXPECT_EQ(Step(kCompiled, true, kFp - 3), "unknown") << "the bytecodes are below it";
  EXPECT_EQ(Step(kCompiled, true, kFp - 1), "unknown") << "so is the function";
}

TEST_F(FramesTest, AnInterruptedPieceOfTheInterpreterWasCalledFromIt) {
  const Word code = heap_.Bytecode(), context = heap_.Context();
  SetFrame(heap_.Function(heap_.Shared({}, code), context), context, code);
  stack_.words[kSp + 1] = kInterpreter + 0x100;
  EXPECT_EQ(Step(kInterpreter + 0x5000, false), "unknown") << "where it returns to is not known";
  EXPECT_EQ(Step(kInterpreter + 0x100), "JS:~f /app.js:1:11, to 1234");
  EXPECT_EQ(Step(kInterpreter + 0x5000, false), "itself, to 400100");
  EXPECT_EQ(StepAt(kInterpreter + 0x5000, false).sp, kStack + 8 * (kSp + 2));
}

// The image's name for the interpreter would hide that the frame is a JavaScript function.
TEST_F(FramesTest, AFrameOfTheInterpreterThatAgreesWithNothingIsAnUnknownFunctions) {
  const Word code = heap_.Bytecode(), context = heap_.Context();
  SetFrame(heap_.Function(heap_.Shared({}, code), context), context, code);
  EXPECT_EQ(Step(kInterpreter), "JS:~f /app.js:1:11, to 1234");
  SetFrame(heap_.String("moved"), context, code);
  EXPECT_EQ(Step(kInterpreter), "[unknown JavaScript], to 1234");
  EXPECT_EQ(Step(kInterpreter + 8), "unknown") << "not known to be the interpreter";
}

// An example is the code that calls a function: it ends with a jump and never has a frame.
TEST_F(FramesTest, AnInterruptedPieceOfV8WasCalledFromOptimisedCode) {
  const Word context = heap_.Context(), shared = heap_.Shared({}, heap_.Bytecode());
  const Word code = heap_.Optimised(shared, 1);
  const uint64_t pc = heap_.StartOf(code) + 8;
  SetFrame(heap_.Function(shared, context, code), context, FakeHeap::Small(3));
  EXPECT_EQ(Step(kInterpreter, false), "frameless") << "the return address is elsewhere";
  stack_.words[kSp + 1] = pc;
  EXPECT_EQ(Step(kInterpreter, false), "itself, to " + absl::StrCat(absl::Hex(pc)));
  EXPECT_EQ(StepAt(kInterpreter, false).sp, kStack + 8 * (kSp + 2));
  EXPECT_EQ(StepAt(kInterpreter, false).fp, kStack + 8 * kFp);
}

TEST_F(FramesTest, AnInterruptedPieceOfV8WasCalledFromBaselineCode) {
  const Word bytecode = heap_.Bytecode(), context = heap_.Context();
  const Word code = heap_.CodeOf(bytecode);
  const Word function = heap_.Function(heap_.Shared({}, code), context, code);
  SetFrame(function, context, bytecode);
  stack_.words[kSp] = heap_.StartOf(code) + 8;
  EXPECT_EQ(Step(kInterpreter, false),
            "itself, to " + absl::StrCat(absl::Hex(heap_.StartOf(code) + 8)));
}

TEST_F(FramesTest, CodeThatWasNotThereAtTheSampleDidNotCallAPieceOfV8) {
  const Word context = heap_.Context(), shared = heap_.Shared({}, heap_.Bytecode());
  const Word code = heap_.Optimised(shared, 1);
  SetFrame(heap_.Function(shared, context, code), context, FakeHeap::Small(3));
  stack_.words[kSp] = heap_.StartOf(code) + 8;
  heap_.now = 100;
  frames_.SetTime(50);
  EXPECT_EQ(Step(kInterpreter, false), "frameless");
}

// A function first calls code that sets up its frame. Until then, the frame is its caller's.
TEST_F(FramesTest, APieceOfV8ThatAFunctionWithoutAFrameCalledHasAnotherCaller) {
  const Word context = heap_.Context(), shared = heap_.Shared({}, heap_.Bytecode());
  const Word other = heap_.Shared({.name = "g"}, heap_.Bytecode());
  const Word code = heap_.Optimised(shared, 1), callee = heap_.Optimised(other, 2);
  SetFrame(heap_.Function(other, context, callee), context, FakeHeap::Small(3));
  Step(heap_.StartOf(callee) + 8);
  SetFrame(heap_.Function(shared, context, code), context, FakeHeap::Small(3));
  stack_.words[kSp] = heap_.StartOf(callee) + 4;
  stack_.words[kSp + 1] = heap_.StartOf(code) + 8;
  EXPECT_EQ(Step(kInterpreter, false), "frameless");
}

TEST_F(FramesTest, AnInterruptedFunctionOfV8HasItsOwnFrame) {
  const Word context = heap_.Context();
  SetFrame(heap_.Function(heap_.Shared({}, FakeHeap::Small(17)), context), context, 0);
  EXPECT_EQ(Step(kInterpreter, false), "unknown");
}

TEST_F(FramesTest, ANameIsGivenOnceUntilItMayBeCovered) {
  const Word code = heap_.Bytecode(), context = heap_.Context();
  SetFrame(heap_.Function(heap_.Shared({}, code), context), context, code);
  Step(kInterpreter), Step(kInterpreter);
  EXPECT_EQ(names_.given, 1);
  ++names_.generation;
  Step(kInterpreter);
  EXPECT_EQ(names_.given, 2);
}

TEST_F(FramesTest, WhatIsFoundAtAnAddressAfterARefreshIsNamedAnew) {
  const Word code = heap_.Bytecode(), context = heap_.Context();
  const Word shared = heap_.Shared({}, code);
  SetFrame(heap_.Function(shared, context), context, code);
  EXPECT_EQ(Step(kInterpreter), "JS:~f /app.js:1:11, to 1234");
  heap_.Set(shared, heap_.metadata().shared_name_or_scope_info, heap_.ScopeInfo({.name = "g"}));
  frames_.Refresh();
  EXPECT_EQ(Step(kInterpreter), "JS:~g /app.js:1:11, to 1234");
}

// For any memory contents, a step ends soon, and a name is that of the function or consists of the
// current contents of its strings.
TEST_F(FramesTest, DamagedMemoryIsRead) {
  const Word code = heap_.Bytecode(), context = heap_.Context();
  const Word shared =
      heap_.Shared({.name = "", .inferred = "a", .locals = 4}, heap_.Baseline(code));
  SetFrame(heap_.Function(shared, context), context, code);
  const std::vector<std::byte> sound = heap_.bytes();
  std::mt19937_64 random(1);
  int named = 0;
  for (int round = 0; round < 20'000; ++round) {
    heap_.bytes() = sound;
    for (uint64_t i = 0; i <= random() % 4; ++i) {
      const size_t at = random() % (sound.size() / 8) * 8;
      // A word from the heap, or a random one.
      uint64_t word = random() >> random() % 64;
      if (random() % 2 != 0) {
        std::memcpy(&word, sound.data() + random() % (sound.size() / 8) * 8, sizeof(word));
      }
      std::memcpy(heap_.bytes().data() + at, &word, sizeof(word));
    }
    frames_.Refresh();
    const size_t before = heap_.reads();
    named += Step(kCompiled) != "unknown" ? 1 : 0;
    EXPECT_LT(heap_.reads() - before, 2000u);
  }
  EXPECT_GT(named, 0);
  EXPECT_LT(named, 20'000);
}

}  // namespace
}  // namespace profiler::symbolize::v8
