// Fuzzes the heap and the stack of a process with V8. The input is:
//
//   40 × u64 stack │ heap, from FakeHeap::kStart on

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "symbolize/v8/frames.h"
#include "symbolize/v8/testing/fake_heap.h"
#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {
namespace {

using symbolize::ManagedStep;
using symbolize::v8::FakeHeap;
using symbolize::v8::Word;

constexpr uint64_t kStack = 0x7000000, kWord = 8;
constexpr size_t kWords = 40, kSp = 2, kFp = 12;
constexpr uint64_t kInterpreter = 0x400000, kCompiled = 0x900000;
// Largest number of memory reads in one step. A name takes some hundred reads, and a step needs
// only a few names.
constexpr size_t kMostReads = 5000;

class Stack : public symbolize::MemoryReader {
 public:
  bool ReadBytes(uint64_t address, std::span<std::byte> bytes) override {
    const uint64_t offset = address - kStack;
    const std::span<const std::byte> own = std::as_bytes(std::span(words));
    if (offset > own.size() || bytes.size() > own.size() - offset) return false;
    std::memcpy(bytes.data(), own.data() + offset, bytes.size());
    return true;
  }
  std::array<uint64_t, kWords> words{};
};

class Sink : public symbolize::CodeSink {
 public:
  void Add(const symbolize::VmCode& code) override {
    Require(!code.bytes.empty(), "code has bytes");
    Require(code.name.find('\0') == code.name.npos, "a name has no NUL");
    Require(code.name.size() < 16384, "a name is bounded");
  }
  uint64_t Generation() const override { return 1; }
};

void Run(std::span<const std::byte> input) {
  Stack stack;
  const size_t size = std::min(input.size(), sizeof(stack.words));
  std::copy_n(input.begin(), size, std::as_writable_bytes(std::span(stack.words)).begin());
  FakeHeap heap;
  heap.bytes().assign(input.begin() + static_cast<std::ptrdiff_t>(size), input.end());
  Sink sink;
  symbolize::v8::Frames frames(heap, heap.metadata(), sink);
  for (const uint64_t pc : {kInterpreter, kCompiled}) {
    for (const bool is_return_address : {true, false}) {
      symbolize::RegisterSet registers(symbolize::Architecture::kX86_64);
      const auto numbers = symbolize::NumbersOf(registers.architecture());
      registers.Set(numbers.pc, pc);
      registers.Set(numbers.sp, kStack + kWord * kSp);
      registers.Set(numbers.fp, kStack + kWord * kFp);
      const size_t before = heap.reads();
      const ManagedStep step =
          frames.StepFrom({registers, is_return_address, pc == kInterpreter}, stack);
      Require(heap.reads() - before < kMostReads, "a step reads little");
      Require(step.kind != ManagedStep::Kind::kCaller || step.sp > registers.sp(),
              "a caller's frame is further out");
    }
  }
}

Bytes SeedOf(const FakeHeap::FunctionSpec& spec, bool is_baseline, bool is_optimised) {
  FakeHeap heap;
  const Word bytecode = heap.Bytecode(), context = heap.Context();
  const Word shared = heap.Shared(spec, is_baseline ? heap.Baseline(bytecode) : bytecode);
  std::array<uint64_t, kWords> stack{};
  stack[kSp] = kInterpreter;
  stack[kFp - 4] = is_optimised ? 0 : bytecode;
  stack[kFp - 2] = heap.Function(shared, context);
  stack[kFp - 1] = context;
  stack[kFp] = kStack + kWord * (kFp + 8);
  stack[kFp + 1] = kInterpreter;
  const std::span<const std::byte> words = std::as_bytes(std::span(stack));
  Bytes seed(words.begin(), words.end());
  seed.insert(seed.end(), heap.bytes().begin(), heap.bytes().end());
  return seed;
}

std::vector<Bytes> Seeds() {
  return {SeedOf({}, false, false), SeedOf({.name = "", .inferred = "a.b"}, true, false),
          SeedOf({.locals = 80, .source = std::string(300, '\n')}, false, true)};
}

}  // namespace

FuzzTarget V8Target() { return {"v8", "the heap of a process with V8", Run, Seeds}; }

}  // namespace profiler::fuzz
