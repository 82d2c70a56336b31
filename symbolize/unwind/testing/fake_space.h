// A process with one image, for tests of unwinding, and a fixture for tests of single steps.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/chain_frame.h"
#include "symbolize/unwind/code_space.h"
#include "symbolize/unwind/managed_code.h"
#include "symbolize/unwind/stack_reader.h"
#include "symbolize/unwind/testing/cfi_builder.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

inline constexpr uint64_t kCode = 0x400000;     // address of the image, whose addresses start at 0
inline constexpr uint64_t kJit = 0x900000;      // executable memory without an image
inline constexpr uint64_t kStack = 0x7fff0000;  // the stack pointer of the sample

// One image, one piece of JIT memory, and memory that was not copied.
class FakeSpace : public UnwindSpace {
 public:
  explicit FakeSpace(CfiTable* cfi) : cfi_(cfi) {}

  uint64_t identity = 0;
  ManagedCode* machine = nullptr;
  ManagedCode* Managed() override { return machine; }
  std::map<uint64_t, std::byte> memory;
  void SetMemory(uint64_t address, const ByteBuilder& contents) {
    for (const std::byte byte : contents.bytes()) memory[address++] = byte;
  }

  uint64_t Identity() const override { return identity; }
  bool FindCode(RuntimeAddress address, MappedCode* code) override {
    if (address.value >= kCode && address.value < kCode + 0x10000) {
      *code = {{kCode}, 0x10000, kCode, cfi_, 7};
      return true;
    }
    if (address.value >= kJit && address.value < kJit + 0x1000) {
      *code = {{kJit}, 0x1000, 0, nullptr, 8};
      return true;
    }
    return false;
  }
  bool ReadMemory(uint64_t address, std::span<std::byte> bytes) override {
    for (std::byte& byte : bytes) {
      const auto it = memory.find(address++);
      if (it == memory.end()) return false;
      byte = it->second;
    }
    return true;
  }

 private:
  CfiTable* cfi_;
};

// Tests of steps from one frame of the image, without a walk.
class StepTest : public testing::Test {
 protected:
  StepTest() { Image({}); }

  // Makes the image. Function n, of 0x100 bytes, is at ELF address 0x1000 * (n + 1) and has
  // `rules[n]` as call frame information. `text` is code at ELF address 0x100 without information.
  void Image(const std::vector<ByteBuilder>& rules, uint16_t machine = EM_X86_64,
             const ByteBuilder& text = {}, uint64_t entry = 0x8000) {
    EhFrameBuilder frames(0x50000, CieSpec{});
    uint64_t start = 0x1000;
    for (const ByteBuilder& function : rules) {
      frames.Add({.start = start, .instructions = function});
      start += 0x1000;
    }
    ElfBuilder elf(machine);
    elf.Entry(entry).Section(".text", 0x100, text, SHF_ALLOC | SHF_EXECINSTR);
    if (!rules.empty()) elf.Section(".eh_frame", 0x50000, frames.section());
    file_ = elf.Build();
    table_ = *CfiTable::Create(*ElfImage::Parse(file_));
    memory_ = std::make_unique<FakeSpace>(table_.get());
    space_ = std::make_unique<CodeSpace>(*memory_, table_->architecture());
  }

  static uint64_t InFunction(int number, uint64_t offset = 0x10) {
    return kCode + 0x1000 * static_cast<uint64_t>(number + 1) + offset;
  }

  // Writes a call that ends before `address`.
  void CallBefore(uint64_t address) {
    memory_->SetMemory(address - 8, {0x90, 0x90, 0x90, 0xe8, 1, 0, 0, 0});
  }
  // Writes bytes that are no call before `address`.
  void NoCallBefore(uint64_t address) {
    memory_->SetMemory(address - 8, {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3});
  }

  // Returns an interrupted leaf at `pc`.
  ChainFrame Leaf(uint64_t pc, uint64_t fp = 0) {
    ChainFrame frame;
    frame.registers = RegisterSet(space_->architecture());
    frame.numbers = NumbersOf(space_->architecture());
    frame.word = WordSize(space_->architecture());
    frame.registers.Set(frame.numbers.pc, pc);
    frame.registers.Set(frame.numbers.sp, kStack);
    frame.registers.Set(frame.numbers.fp, fp);
    frame.is_leaf = true;
    frame.in_code = space_->Find({pc}, &frame.code);
    return frame;
  }
  // Returns a frame that has made a call, at the return address `pc`.
  ChainFrame Caller(uint64_t pc, uint64_t fp = 0) {
    ChainFrame frame = Leaf(pc, fp);
    frame.is_leaf = frame.is_complete = frame.knows_link = false;
    frame.is_return_address = true;
    return frame;
  }

  // Returns the reader of a stack that begins at kStack.
  StackReader& Stack(const std::vector<uint64_t>& words) {
    words_ = words;
    stack_ = std::make_unique<StackReader>(StackBytes{kStack, std::as_bytes(std::span(words_))},
                                           *memory_, WordSize(space_->architecture()));
    return *stack_;
  }

  static std::string Text(const CallerStep& step) {
    switch (step.kind) {
      case CallerStep::Kind::kNone:
        return "none";
      case CallerStep::Kind::kUnreadable:
        return "unreadable";
      case CallerStep::Kind::kEnd:
        return std::string(ChainEndName(step.end));
      case CallerStep::Kind::kCaller:
        break;
    }
    return absl::StrCat(absl::Hex(step.pc), step.is_return_address ? "r" : "",
                        step.origin == FrameOrigin::kGuess ? "?" : "", " sp+", step.sp - kStack,
                        step.knows_stack ? "" : "?", " fp ", absl::Hex(step.fp),
                        step.finds_frame ? " read" : "");
  }

  std::unique_ptr<FakeSpace> memory_;
  std::unique_ptr<CodeSpace> space_;
  std::unique_ptr<CfiTable> table_;

 private:
  std::vector<std::byte> file_;
  std::vector<uint64_t> words_;
  std::unique_ptr<StackReader> stack_;
};

}  // namespace profiler::symbolize
