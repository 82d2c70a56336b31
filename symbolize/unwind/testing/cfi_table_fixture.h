// Builds tables of call frame information and formats their rules, for tests of any architecture.

#pragma once

#include <elf.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/testing/cfi_builder.h"

namespace profiler::symbolize {

inline constexpr uint64_t kFrames = 0x5000;
inline constexpr uint64_t kHeader = 0x4000;

inline std::string Text(const UnwindRule& rule) {
  static constexpr const char* kKinds[] = {"none",          "thread start", "sp",   "fp",
                                           "linkage table", "realigned",    "full", "too long"};
  std::string text = kKinds[rule.kind];
  if (rule.cfa_offset != 0) absl::StrAppend(&text, " ", rule.cfa_offset);
  if (rule.return_slot != 0) absl::StrAppend(&text, " return ", rule.return_slot);
  if (rule.frame_slot != 0) absl::StrAppend(&text, " frame ", rule.frame_slot);
  if (rule.signal_frame != 0) absl::StrAppend(&text, " signal");
  return text;
}

// A file in memory and its table.
struct Table {
  std::vector<std::byte> file;
  std::vector<std::byte> debug_file;
  std::unique_ptr<CfiTable> table;
  std::shared_ptr<bool> has_changed = std::make_shared<bool>(false);

  explicit Table(std::vector<std::byte> bytes, std::vector<std::byte> debug_bytes = {})
      : file(std::move(bytes)), debug_file(std::move(debug_bytes)) {
    const ElfImage image = *ElfImage::Parse(file);
    ElfImage debug;
    if (!debug_file.empty()) debug = *ElfImage::Parse(debug_file);
    table = *CfiTable::Create(image, debug_file.empty() ? nullptr : &debug,
                              [changed = has_changed] { return *changed; });
  }
  std::string At(uint64_t address) const { return Text(table->Find({address})); }
};

// Returns the rule at the start of a function with these instructions.
inline std::string RuleOf(const ByteBuilder& instructions, const CieSpec& cie = {},
                          uint16_t machine = EM_X86_64) {
  EhFrameBuilder frames(kFrames, cie);
  frames.Add({.instructions = instructions});
  const Table table(ElfBuilder(machine).Section(".eh_frame", kFrames, frames.section()).Build());
  return table.At(0x1000);
}

// Returns the rules of a function that has the instructions `code`: one line for each address at
// which the rule changes.
inline std::string RulesOf(const ByteBuilder& code, const ByteBuilder& instructions,
                           const CieSpec& cie = {}, uint16_t machine = EM_X86_64) {
  EhFrameBuilder frames(kFrames, cie);
  frames.Add({.size = code.size(), .instructions = instructions});
  const Table table(ElfBuilder(machine)
                        .Section(".eh_frame", kFrames, frames.section())
                        .Section(".text", 0x1000, code, SHF_ALLOC | SHF_EXECINSTR)
                        .Build());
  std::string text, last;
  for (uint64_t at = 0; at < code.size(); ++at) {
    const std::string rule = table.At(0x1000 + at);
    if (rule != last) absl::StrAppend(&text, absl::Hex(at), ": ", rule, "\n");
    last = rule;
  }
  return text;
}

}  // namespace profiler::symbolize
