// Tests chains of Go programs that continue from a thread's stack on a goroutine's stack.

#include "symbolize/go/stack_switches.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/go/table/testing/table_builder.h"
#include "symbolize/unwind/testing/cfi_builder.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kCode = 0x400000;       // load address minus ELF address
constexpr uint64_t kStack = 0x7fff0000;    // stack pointer on the thread's stack
constexpr uint64_t kOther = 0xc000010000;  // address of main.work's frame on the goroutine's stack

// ELF addresses of functions, 0x100 bytes each.
constexpr uint64_t kOutermost = 0x1000, kSystemstack = 0x1100, kOnThread = 0x1200, kWork = 0x1300,
                   kMain = 0x1400, kClock = 0x1500, kEnlarge = 0x1600, kEnlargeStub = 0x1700,
                   kCalledByC = 0x1800, kCallsC = 0x1900;

const std::vector<GoFunctionSpec> kFunctions = {
    {.name = "runtime.goexit", .start = kOutermost, .flags = GoFunctionSpec::kTopFrame},
    {.name = "runtime.systemstack",
     .start = kSystemstack,
     .flags = GoFunctionSpec::kWritesStackPointer},
    {.name = "runtime.onThread", .start = kOnThread, .pieces = {{8, 0x100}}},
    {.name = "main.work", .start = kWork, .pieces = {{0, 8}, {24, 0xf8}}},
    {.name = "main.main", .start = kMain, .pieces = {{16, 0x100}}},
    {.name = "runtime.nanotime1",
     .start = kClock,
     .pieces = {{24, 0x100}},
     .flags = GoFunctionSpec::kWritesStackPointer},
    {.name = "runtime.morestack", .start = kEnlarge, .flags = GoFunctionSpec::kWritesStackPointer},
    {.name = "runtime.morestack_noctxt", .start = kEnlargeStub},
    {.name = "runtime.cgocallback",
     .start = kCalledByC,
     .pieces = {{32, 0x100}},
     .flags = GoFunctionSpec::kWritesStackPointer},
    {.name = "runtime.cgocall", .start = kCallsC, .pieces = {{24, 0x100}}}};

// A Go program, and memory of its process.
class FakeProgram : public UnwindSpace {
 public:
  FakeProgram() {
    code_.resize(0x1000);
    file_ = ElfBuilder()
                .Section(".gopclntab", 0x8000, GoTable(kFunctions, 0x1a00))
                .Segment(0, 0x1000, 0x1000, PF_X | PF_R)
                .Build();
    table_ = *CfiTable::Create(*ElfImage::Parse(file_));
  }

  // Writes a 5-byte call or jump (`opcode`) that leads to `target`. Its last byte is at the ELF
  // address `end` - 1.
  void BranchBefore(uint64_t end, int opcode, uint64_t target) {
    ByteBuilder branch;
    branch.U8(opcode).U32(static_cast<uint32_t>(target - end));
    std::copy(branch.bytes().begin(), branch.bytes().end(),
              code_.begin() + static_cast<std::ptrdiff_t>(end - 5 - 0x1000));
  }
  void SetMemory(uint64_t address, const std::vector<uint64_t>& words) {
    for (const uint64_t word : words) {
      memory_[address] = word;
      address += 8;
    }
  }

  bool FindCode(RuntimeAddress address, MappedCode* code) override {
    if (address.value - kCode - 0x1000 >= code_.size()) return false;
    *code = {{kCode + 0x1000}, code_.size(), kCode, table_.get(), 1};
    return true;
  }
  bool ReadMemory(uint64_t address, std::span<std::byte> bytes) override {
    const uint64_t offset = address - kCode - 0x1000;
    if (offset < code_.size() && bytes.size() <= code_.size() - offset) {
      std::copy_n(code_.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
      return true;
    }
    const auto word = memory_.find(address);
    if (word == memory_.end() || bytes.size() != sizeof(uint64_t)) return false;
    std::memcpy(bytes.data(), &word->second, sizeof(uint64_t));
    return true;
  }

 private:
  std::vector<std::byte> code_, file_;
  std::unique_ptr<CfiTable> table_;
  std::map<uint64_t, uint64_t> memory_;
};

// The goroutine's stack, from the word that main.work's call has pushed:
//
//   kOther      return address into main.work
//   kOther + 8  24 bytes, of which the last word is main.main's frame pointer
//          +32  return address into main.main
//          +40  16 bytes, of which the last word is a frame pointer
//          +56  return address into runtime.goexit
class StackSwitchTest : public testing::Test {
 protected:
  StackSwitchTest() {
    program_.BranchBefore(kWork + 0x40, 0xe8, kSystemstack);
    SetGoroutine(kCode + kWork + 0x40);
  }

  void SetGoroutine(uint64_t innermost) {
    program_.SetMemory(
        kOther, {innermost, 1, 2, kOther + 48, kCode + kMain + 0x40, 3, 4, kCode + kOutermost + 1});
  }

  // Unwinds from an instruction in the function that systemstack has called.
  std::string Unwind(uint64_t frame_pointer, uint64_t switching = kSystemstack,
                     uint64_t pc = kOnThread + 0x20) {
    RegisterSet registers(Architecture::kX86_64);
    const RegisterNumbers numbers = NumbersOf(Architecture::kX86_64);
    registers.Set(numbers.pc, kCode + pc);
    registers.Set(numbers.sp, kStack);
    ByteBuilder stack;
    stack.U64(frame_pointer).U64(kCode + switching + 0x49).U64(5).U64(6);
    unwinder_.Unwind(registers, {kStack, stack.bytes()}, program_, {}, &chain_);
    std::string text;
    for (const UnwoundFrame& frame : chain_.frames) {
      absl::StrAppend(&text, absl::Hex(frame.address.value - kCode),
                      frame.origin == FrameOrigin::kGuess ? "? " : " ");
    }
    return text + std::string(ChainEndName(chain_.end));
  }

  FakeProgram program_;
  Unwinder unwinder_{GoStackSwitches()};
  UnwoundChain chain_;
};

TEST_F(StackSwitchTest, TheChainGoesOnWhereTheGoroutineCalled) {
  EXPECT_EQ(Unwind(kOther + 24), "1220 1149 1340 1440 1001 thread start");
}

TEST_F(StackSwitchTest, AWordThatIsBehindNoCallOfTheFunctionIsNoFrame) {
  program_.BranchBefore(kWork + 0x40, 0xe8, kMain);
  EXPECT_EQ(Unwind(kOther + 24), "1220 1149 stack switch");
}

TEST_F(StackSwitchTest, ACallWhoseFrameEndsElsewhereIsNotTaken) {
  program_.SetMemory(kOther + 32, {kOther + 48});
  EXPECT_EQ(Unwind(kOther + 32), "1220 1149 stack switch");
}

TEST_F(StackSwitchTest, WithoutAFramePointerItEnds) {
  EXPECT_EQ(Unwind(0), "1220 1149 stack switch");
  EXPECT_EQ(Unwind(kOther + 23), "1220 1149 stack switch");
  EXPECT_EQ(Unwind(0x123450), "1220 1149 stack switch");
}

// main.work has not made its frame yet.
TEST_F(StackSwitchTest, WhereTheStackIsEnlargedTheCallerHasTheFrame) {
  program_.BranchBefore(kWork + 6, 0xe8, kEnlargeStub);
  program_.BranchBefore(kEnlargeStub + 10, 0xe9, kEnlarge);
  program_.SetMemory(
      kOther, {kCode + kWork + 6, kCode + kMain + 0x40, 3, kOther + 80, kCode + kOutermost + 1});
  EXPECT_EQ(Unwind(kOther + 24, kEnlarge), "1220 1649 1306 1440 1001 thread start");
}

// An example is Go's function that reads the time through the vdso.
TEST_F(StackSwitchTest, AFunctionWithAFrameHasItsOwnFramePointer) {
  program_.BranchBefore(kMain + 0x40, 0xe8, kClock);
  program_.SetMemory(kOther, {kOther + 48, kCode + kMain + 0x40, 3, 4, kCode + kOutermost + 1});
  EXPECT_EQ(Unwind(kOther, kClock), "1220 1549 1440 1001 thread start");
  program_.SetMemory(kOther + 8, {kCode + kWork + 0x60});
  EXPECT_EQ(Unwind(kOther, kClock), "1220 1549 stack switch");
}

// The interrupted instruction is in runtime.cgocallback, on the goroutine's stack.
TEST_F(StackSwitchTest, WhereCHasCalledGoItGoesOnWhereCWasCalled) {
  program_.BranchBefore(kCallsC + 0x40, 0xe8, kSystemstack);
  const auto unwind = [this](uint64_t place, uint64_t caller) {
    RegisterSet registers(Architecture::kX86_64);
    const RegisterNumbers numbers = NumbersOf(Architecture::kX86_64);
    registers.Set(numbers.pc, kCode + kCalledByC + 0x20);
    registers.Set(numbers.sp, kOther);
    registers.Set(numbers.fp, kStack);
    ByteBuilder stack;
    stack.U64(1).U64(2).U64(3).U64(4).U64(place).U64(caller);
    stack.U64(5).U64(6).U64(kOther + 88).U64(kCode + kMain + 0x40);
    stack.U64(7).U64(8).U64(kCode + kOutermost + 1);
    unwinder_.Unwind(registers, {kOther, stack.bytes()}, program_, {.leaves_out_c = true}, &chain_,
                     /*pc_is_return_address=*/true);
    return std::string(ChainEndName(chain_.end));
  };
  EXPECT_EQ(unwind(kCode + kSystemstack, kCode + kCallsC + 0x40), "thread start");
  EXPECT_EQ(chain_.frames.size(), 4u);
  EXPECT_EQ(chain_.guessed, 1u);
  EXPECT_EQ(unwind(kCode + kSystemstack, kCode + kCallsC + 0x41), "stack switch");
  EXPECT_EQ(unwind(1, kCode + kCallsC + 0x40), "stack switch");
}

TEST_F(StackSwitchTest, InterruptedBeforeItHasSwitchedItReturnsToItsCaller) {
  RegisterSet registers(Architecture::kX86_64);
  const RegisterNumbers numbers = NumbersOf(Architecture::kX86_64);
  registers.Set(numbers.pc, kCode + kSystemstack + 4);
  registers.Set(numbers.sp, kOther);
  ByteBuilder stack;
  stack.U64(kCode + kWork + 0x40);
  unwinder_.Unwind(registers, {kOther, stack.bytes()}, program_, {}, &chain_);
  EXPECT_EQ(chain_.end, ChainEnd::kThreadStart);
  EXPECT_EQ(chain_.frames.size(), 4u);
}

}  // namespace
}  // namespace profiler::symbolize
