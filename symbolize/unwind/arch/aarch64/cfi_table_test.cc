#include "symbolize/unwind/cfi_table.h"

#include <dwarf.h>
#include <elf.h>

#include "gtest/gtest.h"
#include "symbolize/unwind/testing/cfi_table_fixture.h"

namespace profiler::symbolize {
namespace {

const CieSpec kCie = {
    .code_alignment = 4, .return_address = 30, .instructions = {DW_CFA_def_cfa, 31, 0}};

TEST(AArch64CfiTableTest, KnowsLinkageTablesByTheirSections) {
  const ByteBuilder code{0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(
      Table(ElfBuilder(EM_AARCH64).Section(".plt", 0x2000, code, SHF_ALLOC | SHF_EXECINSTR).Build())
          .At(0x2004),
      "sp");
}

TEST(AArch64CfiTableTest, ALinkageTableBeginsWithWhatItsEntriesLeadTo) {
  const auto build = [](const ByteBuilder& code) {
    return ElfBuilder(EM_AARCH64).Section(".plt", 0x2000, code, SHF_ALLOC | SHF_EXECINSTR).Build();
  };
  // [bti c]; stp x16, x30, [sp, #-16]!
  ByteBuilder code;
  code.U32(0xd503245f).U32(0xa9bf7bf0).Pad(64, 0);
  code.Pad(64, 0);
  const Table with_bti(build(ByteBuilder(code).Bytes(code)));
  EXPECT_EQ(with_bti.At(0x2004), "sp");
  EXPECT_EQ(with_bti.At(0x2008), "sp 16 return -1");
  EXPECT_EQ(with_bti.At(0x201f), "sp 16 return -1");
  EXPECT_EQ(with_bti.At(0x2020), "sp");
  const Table without(build(ByteBuilder().U32(0xa9bf7bf0).Pad(64, 0)));
  EXPECT_EQ(without.At(0x2000), "sp");
  EXPECT_EQ(without.At(0x2004), "sp 16 return -1");
}

TEST(AArch64CfiTableTest, TheReturnAddressMayBeInItsRegister) {
  EXPECT_EQ(RuleOf({}, kCie, EM_AARCH64), "sp");
  EXPECT_EQ(RuleOf({DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3}, kCie,
                   EM_AARCH64),
            "sp 32 return -3 frame -4");
  EXPECT_EQ(RuleOf({DW_CFA_def_cfa, 29, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3}, kCie,
                   EM_AARCH64),
            "fp 32 return -3 frame -4");
  EXPECT_EQ(RuleOf({DW_CFA_undefined, 30}, kCie, EM_AARCH64), "thread start");
}

TEST(AArch64CfiTableTest, AHelperHasItsReturnAddressInTheLinkRegister) {
  ByteBuilder code;
  for (const uint32_t instruction : {0xa9be7bfd,     // stp x29, x30, [sp, #-32]!
                                     0x94000003,     // bl 1f
                                     0xa8c27bfd,     // ldp x29, x30, [sp], #32
                                     0xd65f03c0,     // ret
                                     0xd10043ff,     // 1: sub sp, sp, #16
                                     0x910043ff,     // add sp, sp, #16
                                     0xd65f03c0}) {  // ret
    code.U32(instruction);
  }
  EXPECT_EQ(RulesOf(code, {DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3},
                    kCie, EM_AARCH64),
            "0: sp 32 return -3 frame -4\n"
            "14: sp 16\n"
            "18: sp 32 return -3 frame -4\n");
}

}  // namespace
}  // namespace profiler::symbolize
