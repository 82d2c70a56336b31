// Runs call frame instructions and formats the rows, for tests of any architecture.

#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "symbolize/unwind/cfi_program.h"
#include "symbolize/unwind/testing/cfi_builder.h"

namespace profiler::symbolize {

inline std::string Signed(int64_t value) {
  return value < 0 ? absl::StrCat(value) : absl::StrCat("+", value);
}

// Formats the bytes of an expression in hexadecimal.
inline std::string ExpressionText(const FrameRules& rules, int64_t offset, uint32_t size) {
  std::string text = "(";
  for (const std::byte b : rules.Expression(offset, size)) {
    absl::StrAppend(&text, absl::Hex(std::to_integer<int>(b), absl::kZeroPad2));
  }
  return text + ")";
}

inline std::string RuleText(const FrameRules& rules, const RegisterRule& rule) {
  switch (rule.kind) {
    case RegisterRule::kUnspecified:
      return "";
    case RegisterRule::kUndefined:
      return "undefined";
    case RegisterRule::kSameValue:
      return "same";
    case RegisterRule::kOffset:
      return absl::StrCat("[cfa", Signed(rule.offset), "]");
    case RegisterRule::kValueOffset:
      return absl::StrCat("cfa", Signed(rule.offset));
    case RegisterRule::kRegister:
      return absl::StrCat("r", rule.offset);
    case RegisterRule::kExpression:
      return absl::StrCat("[", ExpressionText(rules, rule.offset, rule.expression_size),
                          rule.stack_moved ? " at " : "",
                          rule.stack_moved ? ExpressionText(rules, rules.told_at.offset,
                                                            rules.told_at.expression_size)
                                           : "",
                          "]");
    case RegisterRule::kValueExpression:
      return ExpressionText(rules, rule.offset, rule.expression_size);
  }
  return "?";
}

inline std::string RowText(uint64_t start, uint64_t end, const FrameRules& rules) {
  std::string text = absl::StrCat(absl::Hex(start), "-", absl::Hex(end), " ");
  if (rules.cfa.kind == CfaRule::kRegister) {
    absl::StrAppend(&text, "r", static_cast<int>(rules.cfa.number), Signed(rules.cfa.offset));
  } else if (rules.cfa.kind == CfaRule::kExpression) {
    absl::StrAppend(&text, ExpressionText(rules, rules.cfa.offset, rules.cfa.expression_size));
  } else {
    absl::StrAppend(&text, "no CFA");
  }
  for (unsigned i = 0; i < kRegisters; ++i) {
    const std::string rule = RuleText(rules, rules.registers[i]);
    if (!rule.empty()) absl::StrAppend(&text, " r", i, "=", rule);
  }
  return text;
}

// Returns the rows of a function at 1000-1100 with these instructions, one per line.
inline std::string Rows(const ByteBuilder& instructions, const CieSpec& cie = {},
                        Architecture architecture = Architecture::kX86_64, uint64_t most = 1000) {
  EhFrameBuilder builder(0x5000, cie);
  builder.Add({.instructions = instructions});
  const FrameSection section(FrameSection::kEhFrame, builder.section().bytes(), 0x5000);
  const auto function = section.ReadFunction(builder.offset(0));
  if (!function) return "no function";
  std::string text;
  const CfiProgram::Outcome outcome = CfiProgram().Run(
      architecture, section, *function, most,
      [&](uint64_t start, uint64_t end, const FrameRules& rules) {
        absl::StrAppend(&text, text.empty() ? "" : "\n", RowText(start, end, rules));
        return true;
      });
  if (outcome.is_cut) absl::StrAppend(&text, "\ncut after ", outcome.instructions);
  return text;
}

}  // namespace profiler::symbolize
