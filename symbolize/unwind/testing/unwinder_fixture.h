// Unwinds stacks of words through functions that are given by their call frame information, for
// tests of any architecture.

#pragma once

#include <elf.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/testing/cfi_builder.h"
#include "symbolize/unwind/testing/fake_space.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

// Functions of 0x100 bytes each: number n is at ELF address 0x1000 * (n + 1).
class UnwinderTest : public testing::Test {
 protected:
  // `text` is code at ELF address 0x100 without call frame information.
  void Functions(const std::vector<ByteBuilder>& instructions, const CieSpec& cie = {},
                 uint16_t machine = EM_X86_64, const ByteBuilder& text = {},
                 uint64_t entry = 0x8000) {
    EhFrameBuilder frames(0x50000, cie);
    uint64_t start = 0x1000;
    for (const ByteBuilder& function : instructions) {
      frames.Add({.start = start, .instructions = function});
      start += 0x1000;
    }
    file_ = ElfBuilder(machine)
                .Entry(entry)
                .Section(".eh_frame", 0x50000, frames.section())
                .Section(".text", 0x100, text, SHF_ALLOC | SHF_EXECINSTR)
                .Build();
    table_ = *CfiTable::Create(*ElfImage::Parse(file_), nullptr, [this] { return has_changed_; });
    space_ = std::make_unique<FakeSpace>(table_.get());
    registers_ = RegisterSet(table_->architecture());
    registers_.Set(NumbersOf(table_->architecture()).sp, kStack);
    registers_.Set(NumbersOf(table_->architecture()).fp, 0);
  }
  void ForgetFramePointer() { registers_.Forget(NumbersOf(registers_.architecture()).fp); }

  static uint64_t InFunction(int number, uint64_t offset = 0x10) {
    return kCode + 0x1000 * static_cast<uint64_t>(number + 1) + offset;
  }

  // Formats the chain: addresses of frames with their origin, and the reason for the end.
  std::string Unwind(uint64_t pc, const std::vector<uint64_t>& stack, UnwindLimits limits = {}) {
    ByteBuilder words;
    const bool is_i386 = registers_.architecture() == Architecture::kI386;
    for (const uint64_t word : stack)
      is_i386 ? words.U32(static_cast<uint32_t>(word)) : words.U64(word);
    registers_.Set(NumbersOf(registers_.architecture()).pc, pc);
    unwinder_.Unwind(registers_, {kStack, words.bytes(), stack_ends_}, *space_, limits, &chain_);
    return Text();
  }

  std::string Text() const {
    std::string text;
    for (const UnwoundFrame& frame : chain_.frames) {
      absl::StrAppend(&text, absl::Hex(frame.address.value), frame.is_return_address ? "r" : "",
                      frame.origin == FrameOrigin::kGuess ? "?" : "", frame.late_read ? "*" : "",
                      " ");
    }
    return text + std::string(ChainEndName(chain_.end));
  }

  std::vector<std::byte> file_;
  bool has_changed_ = false;  // the file has changed
  bool stack_ends_ = false;   // the copied bytes reach the end of the stack
  std::unique_ptr<CfiTable> table_;
  std::unique_ptr<FakeSpace> space_;
  RegisterSet registers_;
  Unwinder unwinder_{nullptr};
  UnwoundChain chain_;
};

}  // namespace profiler::symbolize
