#include "symbolize/unwind/cfi_program.h"

#include <dwarf.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/unwind/testing/cfi_builder.h"

namespace profiler::symbolize {
namespace {

std::string Signed(int64_t value) {
  return value < 0 ? absl::StrCat(value) : absl::StrCat("+", value);
}

// Formats the bytes of an expression in hexadecimal.
std::string ExpressionText(const FrameRules& rules, int64_t offset, uint32_t size) {
  std::string text = "(";
  for (const std::byte b : rules.Expression(offset, size)) {
    absl::StrAppend(&text, absl::Hex(std::to_integer<int>(b), absl::kZeroPad2));
  }
  return text + ")";
}

std::string RuleText(const FrameRules& rules, const RegisterRule& rule) {
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

std::string RowText(uint64_t start, uint64_t end, const FrameRules& rules) {
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
std::string Rows(const ByteBuilder& instructions, const CieSpec& cie = {},
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

TEST(CfiProgramTest, RowsEndWithTheInstructionsThatAreAllowed) {
  const ByteBuilder two_rows = {DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
                                DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 24};
  const std::string first = "1000-1001 r7+8 r16=[cfa-8]\n1001-1002 r7+16 r16=[cfa-8]";
  EXPECT_EQ(Rows(two_rows, {}, Architecture::kX86_64, 11), first + "\ncut after 11");
  EXPECT_EQ(Rows(two_rows, {}, Architecture::kX86_64, 1), "\ncut after 1") << "in the CIE";
  EXPECT_EQ(Rows(two_rows), first + "\n1002-1100 r7+24 r16=[cfa-8]");
}

TEST(CfiProgramTest, WithoutInstructionsThereIsOneRowOfTheCommonEntry) {
  EXPECT_EQ(Rows({}), "1000-1100 r7+8 r16=[cfa-8]");
}

TEST(CfiProgramTest, AdvancesMakeRows) {
  EXPECT_EQ(Rows(ByteBuilder{DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16}
                     .U8(DW_CFA_advance_loc1)
                     .U8(3)
                     .U8(DW_CFA_def_cfa_offset)
                     .U8(24)
                     .U8(DW_CFA_advance_loc2)
                     .U16(0x10)
                     .U8(DW_CFA_def_cfa_offset)
                     .U8(32)
                     .U8(DW_CFA_advance_loc4)
                     .U32(0x20)
                     .U8(DW_CFA_def_cfa_offset)
                     .U8(40)
                     .U8(DW_CFA_MIPS_advance_loc8)
                     .U64(0x40)
                     .U8(DW_CFA_def_cfa_offset)
                     .U8(48)),
            "1000-1001 r7+8 r16=[cfa-8]\n"
            "1001-1004 r7+16 r16=[cfa-8]\n"
            "1004-1014 r7+24 r16=[cfa-8]\n"
            "1014-1034 r7+32 r16=[cfa-8]\n"
            "1034-1074 r7+40 r16=[cfa-8]\n"
            "1074-1100 r7+48 r16=[cfa-8]");
}

TEST(CfiProgramTest, AdvancesCountInUnitsOfTheCodeAlignment) {
  EXPECT_EQ(Rows({DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 16}, {.code_alignment = 4}),
            "1000-1008 r7+8 r16=[cfa-8]\n"
            "1008-1100 r7+16 r16=[cfa-8]");
}

// Returns the memory address of the first instruction in Rows. The target of set_loc is relative to
// the address of its operand. In front of the first instruction are the length, the distance to the
// CIE, start, size, and the size of the augmentation data.
uint64_t FirstInstruction() {
  return 0x5000 + EhFrameBuilder(0x5000, {}).section().size() + 4 + 4 + 8 + 1;
}

TEST(CfiProgramTest, SetLocGoesToAnAddress) {
  const uint64_t operand = FirstInstruction() + 1;
  EXPECT_EQ(Rows(ByteBuilder{DW_CFA_set_loc}
                     .U32(static_cast<uint32_t>(0x1080 - operand))
                     .U8(DW_CFA_def_cfa_offset)
                     .U8(16)),
            "1000-1080 r7+8 r16=[cfa-8]\n"
            "1080-1100 r7+16 r16=[cfa-8]");
}

TEST(CfiProgramTest, SetLocBackwardsEndsTheRows) {
  const uint64_t operand = FirstInstruction() + 2;
  EXPECT_EQ(Rows(ByteBuilder{DW_CFA_advance_loc | 8, DW_CFA_set_loc}.U32(
                static_cast<uint32_t>(0x1004 - operand))),
            "1000-1008 r7+8 r16=[cfa-8]");
}

TEST(CfiProgramTest, CfaIsARegisterAndAnOffset) {
  EXPECT_EQ(Rows({DW_CFA_def_cfa, 6, 16}), "1000-1100 r6+16 r16=[cfa-8]");
  EXPECT_EQ(Rows({DW_CFA_def_cfa_register, 6}), "1000-1100 r6+8 r16=[cfa-8]");
  EXPECT_EQ(Rows(ByteBuilder{DW_CFA_def_cfa_offset}.Uleb(70000)), "1000-1100 r7+70000 r16=[cfa-8]");
  EXPECT_EQ(Rows(ByteBuilder{DW_CFA_def_cfa_sf, 6}.Sleb(-2)), "1000-1100 r6+16 r16=[cfa-8]");
  EXPECT_EQ(Rows(ByteBuilder{DW_CFA_def_cfa_offset_sf}.Sleb(3)), "1000-1100 r7-24 r16=[cfa-8]");
}

TEST(CfiProgramTest, CfaIsAnExpression) {
  EXPECT_EQ(Rows({DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + 6, 0x78, DW_OP_deref}),
            "1000-1100 (767806) r16=[cfa-8]");
}

TEST(CfiProgramTest, AnOffsetAloneDoesNotChangeAnExpression) {
  EXPECT_EQ(Rows({DW_CFA_def_cfa_expression, 1, DW_OP_lit0, DW_CFA_def_cfa_offset, 8}), "");
}

TEST(CfiProgramTest, RegistersAreSavedAtOffsets) {
  EXPECT_EQ(Rows({DW_CFA_offset | 6, 2}), "1000-1100 r7+8 r6=[cfa-16] r16=[cfa-8]");
  EXPECT_EQ(Rows({DW_CFA_offset_extended, 12, 3}), "1000-1100 r7+8 r12=[cfa-24] r16=[cfa-8]");
  EXPECT_EQ(Rows(ByteBuilder{DW_CFA_offset_extended_sf, 12}.Sleb(-3)),
            "1000-1100 r7+8 r12=[cfa+24] r16=[cfa-8]");
  EXPECT_EQ(Rows({DW_CFA_GNU_negative_offset_extended, 12, 3}),
            "1000-1100 r7+8 r12=[cfa+24] r16=[cfa-8]");
}

TEST(CfiProgramTest, RegistersHaveValues) {
  EXPECT_EQ(Rows({DW_CFA_val_offset, 12, 3}), "1000-1100 r7+8 r12=cfa-24 r16=[cfa-8]");
  EXPECT_EQ(Rows(ByteBuilder{DW_CFA_val_offset_sf, 12}.Sleb(-3)),
            "1000-1100 r7+8 r12=cfa+24 r16=[cfa-8]");
  EXPECT_EQ(Rows({DW_CFA_register, 16, 5}), "1000-1100 r7+8 r16=r5");
  EXPECT_EQ(Rows({DW_CFA_undefined, 16, DW_CFA_same_value, 3}),
            "1000-1100 r7+8 r3=same r16=undefined");
  EXPECT_EQ(Rows({DW_CFA_expression, 3, 2, DW_OP_breg0 + 7, 40}),
            "1000-1100 r7+8 r3=[(7728)] r16=[cfa-8]");
  EXPECT_EQ(Rows({DW_CFA_val_expression, 3, 2, DW_OP_breg0 + 7, 40}),
            "1000-1100 r7+8 r3=(7728) r16=[cfa-8]");
}

TEST(CfiProgramTest, RestoreGivesTheRuleOfTheCommonEntry) {
  EXPECT_EQ(Rows({DW_CFA_offset | 16, 3, DW_CFA_offset | 6, 2, DW_CFA_advance_loc | 1,
                  DW_CFA_restore | 16, DW_CFA_restore_extended, 6}),
            "1000-1001 r7+8 r6=[cfa-16] r16=[cfa-24]\n"
            "1001-1100 r7+8 r16=[cfa-8]");
}

TEST(CfiProgramTest, RememberedStatesNest) {
  EXPECT_EQ(Rows({DW_CFA_remember_state, DW_CFA_def_cfa_offset, 16, DW_CFA_remember_state,
                  DW_CFA_def_cfa_offset, 24, DW_CFA_advance_loc | 1, DW_CFA_restore_state,
                  DW_CFA_advance_loc | 1, DW_CFA_restore_state}),
            "1000-1001 r7+24 r16=[cfa-8]\n"
            "1001-1002 r7+16 r16=[cfa-8]\n"
            "1002-1100 r7+8 r16=[cfa-8]");
}

TEST(CfiProgramTest, RestoringWhatWasNotRememberedEndsTheRows) {
  EXPECT_EQ(Rows({DW_CFA_advance_loc | 1, DW_CFA_restore_state}), "1000-1001 r7+8 r16=[cfa-8]");
}

TEST(CfiProgramTest, RememberingWithoutEndEndsTheRows) {
  ByteBuilder instructions{DW_CFA_advance_loc | 1};
  for (int i = 0; i < 1000; ++i) instructions.U8(DW_CFA_remember_state);
  EXPECT_EQ(Rows(instructions), "1000-1001 r7+8 r16=[cfa-8]");
}

TEST(CfiProgramTest, SizesOfArgumentsArePassedOver) {
  EXPECT_EQ(Rows({DW_CFA_GNU_args_size, 16, DW_CFA_nop, DW_CFA_def_cfa_offset, 24}),
            "1000-1100 r7+24 r16=[cfa-8]");
}

TEST(CfiProgramTest, SigningOfReturnAddressesIsPassedOverOnAArch64Only) {
  const ByteBuilder instructions{0x2d, DW_CFA_def_cfa_offset, 24};
  EXPECT_EQ(Rows(instructions), "");
  EXPECT_EQ(Rows(instructions, {.instructions = {DW_CFA_def_cfa, 31, 0}}, Architecture::kAArch64),
            "1000-1100 r31+24");
}

// Returns an instruction that sets the CFA to stack pointer + `offset`.
ByteBuilder CfaFromStackPointer(int offset) {
  return {DW_CFA_def_cfa_expression, 2, DW_OP_breg31, offset};
}

TEST(CfiProgramTest, OnAArch64ARegisterToldByTheStackPointerStaysWhereItIsWhenThatMoves) {
  const ByteBuilder saved{DW_CFA_expression, 30, 2, DW_OP_breg31, 8};
  const CieSpec cie{.instructions = {DW_CFA_def_cfa, 31, 0}};
  ByteBuilder prologue = CfaFromStackPointer(16);
  prologue.U8(DW_CFA_advance_loc | 4).Bytes(saved);
  prologue.U8(DW_CFA_advance_loc | 8).Bytes(CfaFromStackPointer(48));
  ByteBuilder also_later = prologue;
  also_later.Bytes({DW_CFA_expression, 19, 2, DW_OP_breg31, 24});
  also_later.U8(DW_CFA_advance_loc | 4).Bytes(CfaFromStackPointer(16));
  EXPECT_EQ(Rows(also_later, cie, Architecture::kAArch64),
            "1000-1004 (8f10)\n"
            "1004-100c (8f10) r30=[(8f08)]\n"
            "100c-1010 (8f30) r19=[(8f18)] r30=[(8f08) at (8f10)]\n"
            "1010-1100 (8f10) r19=[(8f18)] r30=[(8f08) at (8f10)]");
  ByteBuilder of_one_instruction = CfaFromStackPointer(0);
  of_one_instruction.U8(DW_CFA_advance_loc | 4).Bytes(saved).Bytes(CfaFromStackPointer(16));
  EXPECT_EQ(Rows(of_one_instruction, cie, Architecture::kAArch64),
            "1000-1004 (8f00)\n"
            "1004-1100 (8f10) r30=[(8f08)]");
}

TEST(CfiProgramTest, RegistersThatNobodyNeedsArePassedOver) {
  EXPECT_EQ(Rows(ByteBuilder{DW_CFA_offset_extended, 72, 2, DW_CFA_offset | 34, 1}),
            "1000-1100 r7+8 r16=[cfa-8]");
}

TEST(CfiProgramTest, UnknownInstructionsEndTheRows) {
  EXPECT_EQ(Rows({DW_CFA_advance_loc | 1, 0x3f}), "1000-1001 r7+8 r16=[cfa-8]");
}

TEST(CfiProgramTest, CutOperandsEndTheRows) {
  // The expression claims more bytes than the entry has, even with its padding.
  EXPECT_EQ(Rows({DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 100}),
            "1000-1001 r7+8 r16=[cfa-8]");
}

TEST(CfiProgramTest, RowsEndWithTheFunction) {
  EXPECT_EQ(Rows(ByteBuilder{DW_CFA_advance_loc4}.U32(0x1000).U8(DW_CFA_def_cfa_offset).U8(16)),
            "1000-1100 r7+8 r16=[cfa-8]");
}

TEST(CfiProgramTest, ACommonEntryMayNotAdvance) {
  EXPECT_EQ(Rows({}, {.instructions = {DW_CFA_def_cfa, 7, 8, DW_CFA_advance_loc | 1}}), "");
}

TEST(CfiProgramTest, ReadsEveryVersionAndAugmentation) {
  const std::string row = "1000-1100 r7+8 r16=[cfa-8]";
  EXPECT_EQ(Rows({}, {.version = 3}), row);
  EXPECT_EQ(Rows({}, {.version = 4}), row);
  EXPECT_EQ(Rows({}, {.augmentation = ""}), row);
  EXPECT_EQ(Rows({}, {.augmentation = "zPLR"}), row);
  EXPECT_EQ(Rows({}, {.augmentation = "zRB"}), row);
  EXPECT_EQ(Rows({}, {.version = 2}), "no function");
  EXPECT_EQ(Rows({}, {.augmentation = "eh"}), "no function");
}

}  // namespace
}  // namespace profiler::symbolize
