#include "symbolize/unwind/derived_rules.h"

#include <elf.h>

#include <initializer_list>
#include <string>

#include "gtest/gtest.h"
#include "symbolize/unwind/testing/derived_rules_fixture.h"

namespace profiler::symbolize {
namespace {

class AArch64DerivedRulesTest : public DerivedRulesTest {};

// Returns the rules of code.
std::string RulesOf(std::initializer_list<uint32_t> instructions) {
  ByteBuilder code;
  for (const uint32_t instruction : instructions) code.U32(instruction);
  return DerivedRulesTest::Rules(code, nullptr, SHF_ALLOC | SHF_EXECINSTR, EM_AARCH64);
}

TEST_F(AArch64DerivedRulesTest, TheLinkRegisterHasTheReturnAddressUntilItIsSaved) {
  EXPECT_EQ(RulesOf({
                0xd503233f,  // 0  paciasp
                0xa9be7bfd,  // 4  stp x29, x30, [sp, #-32]!
                0x910003fd,  // 8  mov x29, sp
                0xa90153f3,  // c  stp x19, x20, [sp, #16]
                0x94000400,  // 10 bl
                0xa94153f3,  // 14 ldp x19, x20, [sp, #16]
                0xa8c27bfd,  // 18 ldp x29, x30, [sp], #32
                0xd50323bf,  // 1c autiasp
                0xd65f03c0,  // 20 ret
            }),
            "0: sp+0 return at 0\n"
            "8: sp+32 return at -24\n"
            "c: fp+32 return at -24 fp at -32\n"
            "1c: sp+0 return at 0\n");
}

TEST_F(AArch64DerivedRulesTest, WhatHasNoFramePointerIsFoundByItsStackPointer) {
  EXPECT_EQ(RulesOf({
                0xd100c3ff,  // 0  sub sp, sp, #48
                0xf90007fe,  // 4  str x30, [sp, #8]
                0x6dbe27e8,  // 8  stp d8, d9, [sp, #-32]!
                0x94000400,  // c  bl
                0x6cc227e8,  // 10 ldp d8, d9, [sp], #32
                0xf94007fe,  // 14 ldr x30, [sp, #8]
                0x9100c3ff,  // 18 add sp, sp, #48
                0xd65f03c0,  // 1c ret
            }),
            "0: sp+0 return at 0\n"
            "4: sp+48 return at 0\n"
            "8: sp+48 return at -40\n"
            "c: sp+80 return at -40\n"
            "14: sp+48 return at -40\n"
            "1c: sp+0 return at 0\n");
}

TEST_F(AArch64DerivedRulesTest, AStackThatIsMovedByARegisterIsFoundByTheFramePointer) {
  EXPECT_EQ(RulesOf({
                0xa9be7bfd,  // 0  stp x29, x30, [sp, #-32]!
                0x910003fd,  // 4  mov x29, sp
                0xcb2163ff,  // 8  sub sp, sp, x1
                0x910003bf,  // c  mov sp, x29
                0xa8c27bfd,  // 10 ldp x29, x30, [sp], #32
                0xd65f03c0,  // 14 ret
            }),
            "0: sp+0 return at 0\n"
            "4: sp+32 return at -24\n"
            "8: fp+32 return at -24 fp at -32\n"
            "14: sp+0 return at 0\n");
}

TEST_F(AArch64DerivedRulesTest, WhatCallsWithoutSavingItsReturnAddressHasNone) {
  EXPECT_EQ(RulesOf({
                0xd503245f,  // 0  bti c
                0x94000400,  // 4  bl
                0x14000001,  // 8  b
                0xd65f03c0,  // c  ret
            }),
            "0: sp+0 return at 0\n"
            "8: none\n");
}

TEST_F(AArch64DerivedRulesTest, BothWaysOfABranchAreFollowedAndWhatBeginsAFunctionBehindACall) {
  EXPECT_EQ(RulesOf({
                0xb4000060,  // 0  cbz x0, c
                0xa9be7bfd,  // 4  stp x29, x30, [sp, #-32]!
                0x94000400,  // 8  bl, which does not return
                0xa9bf7bfd,  // c  stp x29, x30, [sp, #-16]!
                0x94000400,  // 10 bl
                0xa8c17bfd,  // 14 ldp x29, x30, [sp], #16
                0xd65f03c0,  // 18 ret
            }),
            "0: sp+0 return at 0\n"
            "8: sp+32 return at -24\n"
            "c: sp+0 return at 0\n"
            "10: sp+16\n"
            "18: sp+0 return at 0\n");
}

}  // namespace
}  // namespace profiler::symbolize
