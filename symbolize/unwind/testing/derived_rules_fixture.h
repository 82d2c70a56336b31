// Derives rules from code and formats them, for tests of any architecture.

#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/derived_rules.h"
#include "symbolize/unwind/testing/cfi_builder.h"

namespace profiler::symbolize {

inline constexpr uint64_t kText = 0x1000;

inline std::string Text(const UnwindRule& rule, int word = 8) {
  std::string text;
  switch (rule.kind) {
    case UnwindRule::kNone:
      return "none";
    case UnwindRule::kThreadStart:
      return "outermost";
    case UnwindRule::kFromStackPointer:
      text = absl::StrCat("sp+", rule.cfa_offset);
      break;
    case UnwindRule::kFromFramePointer:
      text = absl::StrCat("fp+", rule.cfa_offset);
      break;
    case UnwindRule::kRealigned:
      text = absl::StrCat("at fp", rule.cfa_offset, " fp at fp+", rule.frame_slot * word);
      if (rule.return_slot != -1) absl::StrAppend(&text, " return at ", rule.return_slot * word);
      return text;
    default:
      return "?";
  }
  if (rule.return_slot != -1) absl::StrAppend(&text, " return at ", rule.return_slot * word);
  if (rule.frame_slot != 0) absl::StrAppend(&text, " fp at ", rule.frame_slot * word);
  return text;
}

class DerivedRulesTest : public testing::Test {
 public:
  // Returns one line per address in `code` at which the rule changes.
  static std::string Rules(const ByteBuilder& code, FrameBudget* budget = nullptr,
                           uint64_t flags = SHF_ALLOC | SHF_EXECINSTR,
                           uint16_t machine = EM_X86_64) {
    return RulesOfFile(ElfBuilder(machine).Section(".text", kText, code, flags).Build(),
                       code.size(), budget);
  }

  // Returns the rules of code with a symbol that names a function of `size` bytes at its start.
  static std::string RulesWithSymbol(const ByteBuilder& code, uint64_t size) {
    ByteBuilder symbol;
    symbol.U32(0).U8(ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)).U8(0).U8(1).U8(0).U64(kText).U64(size);
    return RulesOfFile(ElfBuilder()
                           .Section(".text", kText, code, SHF_ALLOC | SHF_EXECINSTR)
                           .Section(".symtab", 0, symbol, 0, SHT_SYMTAB)
                           .Build(),
                       code.size(), nullptr);
  }

  static std::string RulesOfFile(const std::vector<std::byte>& file, size_t size,
                                 FrameBudget* budget) {
    const ElfImage image = *ElfImage::Parse(file);
    DerivedRules rules(*ArchitectureOfElf(image.machine(), image.is_64_bit()), image, budget);
    std::string text, last;
    for (uint64_t at = 0; at < size; ++at) {
      bool compiled = false;
      const std::string rule =
          Text(rules.Find({kText + at}, &compiled).rule, image.machine() == EM_386 ? 4 : 8);
      if (rule != last) absl::StrAppend(&text, absl::Hex(at), ": ", rule, "\n");
      last = rule;
    }
    return text;
  }

  // endbr64, ret: code that may be called.
  static void AddFunction(ByteBuilder* code) {
    code->Pad(16, 0x90).Bytes({0xf3, 0x0f, 0x1e, 0xfa, 0xc3});
  }
};

}  // namespace profiler::symbolize
