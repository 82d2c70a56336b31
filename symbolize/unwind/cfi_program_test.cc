#include "symbolize/unwind/cfi_program.h"

#include <dwarf.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/unwind/testing/cfi_builder.h"
#include "symbolize/unwind/testing/cfi_program_fixture.h"

namespace profiler::symbolize {
namespace {

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

TEST(CfiProgramTest, AWindowOfRegistersEndsTheProgram) {
  EXPECT_EQ(Rows({0x2d, DW_CFA_def_cfa_offset, 24}), "");
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
