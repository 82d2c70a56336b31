#include "symbolize/unwind/cfi_program.h"

#include <dwarf.h>

#include "gtest/gtest.h"
#include "symbolize/unwind/testing/cfi_program_fixture.h"

namespace profiler::symbolize {
namespace {

TEST(AArch64CfiProgramTest, SigningOfReturnAddressesIsPassedOver) {
  const ByteBuilder instructions{0x2d, DW_CFA_def_cfa_offset, 24};
  EXPECT_EQ(Rows(instructions, {.instructions = {DW_CFA_def_cfa, 31, 0}}, Architecture::kAArch64),
            "1000-1100 r31+24");
}

// Returns an instruction that sets the CFA to stack pointer + `offset`.
ByteBuilder CfaFromStackPointer(int offset) {
  return {DW_CFA_def_cfa_expression, 2, DW_OP_breg31, offset};
}

TEST(AArch64CfiProgramTest, ARegisterToldByTheStackPointerStaysWhereItIsWhenThatMoves) {
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

}  // namespace
}  // namespace profiler::symbolize
