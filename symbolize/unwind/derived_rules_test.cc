#include "symbolize/unwind/derived_rules.h"

#include <elf.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/function_starts.h"
#include "symbolize/unwind/testing/cfi_builder.h"
#include "symbolize/unwind/testing/derived_rules_fixture.h"

namespace profiler::symbolize {
namespace {

TEST_F(DerivedRulesTest, AFrameIsWhereTheFramePointerSaysOnceThereIsOne) {
  EXPECT_EQ(Rules({
                0x55,                    // 0  push rbp
                0x48, 0x89, 0xe5,        // 1  mov rbp, rsp
                0x53,                    // 4  push rbx
                0x48, 0x83, 0xec, 0x18,  // 5  sub rsp, 24
                0x48, 0x83, 0xe4, 0xc0,  // 9  and rsp, -64
                0x48, 0x8d, 0x65, 0xf8,  // d  lea rsp, [rbp-8]
                0x5b,                    // 11 pop rbx
                0x5d,                    // 12 pop rbp
                0xc3,                    // 13 ret
            }),
            "0: sp+8\n"
            "1: sp+16\n"
            "4: fp+16 fp at -16\n"
            "13: sp+8\n");
}

TEST_F(DerivedRulesTest, WithoutAFramePointerTheStackPointerIsFollowed) {
  EXPECT_EQ(Rules({
                0x41, 0x57,                    // 0  push r15
                0x55,                          // 2  push rbp
                0x48, 0x81, 0xec, 0, 1, 0, 0,  // 3  sub rsp, 256
                0x89, 0xfd,                    // a  mov ebp, edi
                0x48, 0x81, 0xc4, 0, 1, 0, 0,  // c  add rsp, 256
                0x5d,                          // 13 pop rbp
                0x41, 0x5f,                    // 14 pop r15
                0xc3,                          // 16 ret
            }),
            "0: sp+8\n"
            "2: sp+16\n"
            "3: sp+24\n"
            "a: sp+280\n"
            "c: sp+280 fp at -24\n"
            "13: sp+24 fp at -24\n"
            "14: sp+16\n"
            "16: sp+8\n");
}

TEST_F(DerivedRulesTest, AFramePointerMayBeSavedWithoutAPush) {
  EXPECT_EQ(Rules({
                0x48, 0x83, 0xec, 0x28,        // 0  sub rsp, 40
                0x48, 0x89, 0x6c, 0x24, 0x20,  // 4  mov [rsp+32], rbp
                0x48, 0x8d, 0x6c, 0x24, 0x20,  // 9  lea rbp, [rsp+32]
                0x48, 0x8b, 0x6c, 0x24, 0x20,  // e  mov rbp, [rsp+32]
                0x48, 0x83, 0xc4, 0x28,        // 13 add rsp, 40
                0xc3,                          // 17 ret
            }),
            "0: sp+8\n"
            "4: sp+48\n"
            "e: fp+16 fp at -16\n"
            "13: sp+48\n"
            "17: sp+8\n");
}

TEST_F(DerivedRulesTest, BothWaysOfABranchAreFollowed) {
  EXPECT_EQ(Rules({
                0x53,        // 0  push rbx
                0x85, 0xff,  // 1  test edi, edi
                0x74, 0x02,  // 3  je 7
                0x5b,        // 5  pop rbx
                0xc3,        // 6  ret
                0x50,        // 7  push rax
                0xeb, 0x00,  // 8  jmp a
                0x58,        // a  pop rax
                0xeb, 0xf8,  // b  jmp 5
            }),
            "0: sp+8\n"
            "1: sp+16\n"
            "6: sp+8\n"
            "7: sp+16\n"
            "8: sp+24\n"
            "b: sp+16\n");
}

TEST_F(DerivedRulesTest, WhatAJumpThroughATableLeadsToHasItsFrame) {
  EXPECT_EQ(Rules({
                0x53,              // 0  push rbx
                0xff, 0x24, 0xf8,  // 1  jmp [rax+rdi*8]
                0x31, 0xc0,        // 4  xor eax, eax
                0x5b,              // 6  pop rbx
                0xc3,              // 7  ret
                0x5b,              // 8  pop rbx
                0xc3,              // 9  ret
            }),
            "0: sp+8\n"
            "1: sp+16\n"
            "7: sp+8\n"
            "8: sp+16\n"
            "9: sp+8\n");
}

TEST_F(DerivedRulesTest, WhoGivesTheCallersFramePointerAwayIsOutermost) {
  EXPECT_EQ(Rules({
                0x48, 0x31, 0xed,        // 0 xor rbp, rbp
                0x48, 0x89, 0xe7,        // 3 mov rdi, rsp
                0x48, 0x83, 0xe4, 0xf0,  // 6 and rsp, -16
                0xff, 0xd0,              // a call rax
                0xf4,                    // c hlt
            }),
            "0: sp+8\n"
            "3: outermost\n");
  EXPECT_EQ(Rules({0x55, 0x31, 0xed, 0x90, 0xc3}),  // push rbp; xor ebp, ebp; nop; ret
            "0: sp+8\n1: sp+16\n3: sp+16 fp at -16\n");
}

TEST_F(DerivedRulesTest, ACallBeforePaddingAndAFunctionDoesNotReturn) {
  ByteBuilder code{
      0x53,                       // 0  push rbx
      0xe8, 0x1a, 0,    0,    0,  // 1  call 20
      0x0f, 0x1f, 0x40, 0x00,     // 6  nop
  };
  code.Pad(16, 0x90);
  code.Bytes({
      0x89, 0xf8,              // 10 mov eax, edi
      0x48, 0x83, 0xec, 0x08,  // 12 sub rsp, 8
      0x48, 0x83, 0xc4, 0x08,  // 16 add rsp, 8
      0xc3,                    // 1a ret
  });
  code.Pad(16, 0x90);
  AddFunction(&code);  // 20
  EXPECT_EQ(Rules(code),
            "0: sp+8\n"
            "1: sp+16\n"
            "6: none\n"
            "10: sp+8\n"
            "16: sp+16\n"
            "1a: sp+8\n"
            "1b: none\n"
            "20: sp+8\n");
}

TEST_F(DerivedRulesTest, ACallElsewhereDoesReturn) {
  ByteBuilder code{
      0x53,                 // 0  push rbx
      0xe8, 0x0a, 0, 0, 0,  // 1  call 10
      0x5b,                 // 6  pop rbx
      0xc3,                 // 7  ret
  };
  AddFunction(&code);  // 10
  EXPECT_EQ(Rules(code),
            "0: sp+8\n"
            "1: sp+16\n"
            "7: sp+8\n"
            "8: none\n"
            "10: sp+8\n");
}

TEST_F(DerivedRulesTest, HalfAnInstructionThatLooksLikeACallStartsNoFunction) {
  EXPECT_EQ(Rules({
                0x53,                          // 0  push rbx
                0xb8, 0xe8, 0x02, 0x00, 0x00,  // mov eax, 0x2e8: the second byte looks like call 9
                0x00, 0xc0,                    // 6  add al, al
                0x90,                          // 8  nop
                0x31, 0xc0,                    // 9  xor eax, eax
                0x5b,                          // b  pop rbx
                0xc3,                          // c  ret
            }),
            "0: sp+8\n"
            "1: sp+16\n"
            "c: sp+8\n");
}

TEST_F(DerivedRulesTest, AFunctionEndsWhereItsSymbolSays) {
  const ByteBuilder code{
      0x53,                          // 0  push rbx
      0xb8, 0xe8, 0x0a, 0x00, 0x00,  // mov eax, 0xae8: the second byte looks like call 11
      0x00, 0x90, 0x90, 0x90, 0x90,  // 6  add [rax], dl …
      0xe8, 0x01, 0x00, 0x00, 0x00,  // call 11, its second call
      0x90,                          // 10 nop
      0x5b,                          // 11 pop rbx
      0xc3,                          // 12 ret
      0x53,                          // 13 push rbx
      0xc3,                          // 14 ret
  };
  EXPECT_EQ(RulesWithSymbol(code, 0x13),
            "0: sp+8\n"
            "1: sp+16\n"
            "12: sp+8\n"
            "14: sp+16\n");
  // Without a size, all calls count.
  EXPECT_EQ(RulesWithSymbol(code, 0),
            "0: sp+8\n"
            "1: sp+16\n"
            "11: sp+8\n"
            "12: none\n"
            "13: sp+8\n"
            "14: sp+16\n");
}

TEST_F(DerivedRulesTest, NothingIsToldOfWhatIsNoCode) {
  EXPECT_EQ(Rules({0x06, 0x06, 0x06}), "0: none\n");  // invalid in 64-bit mode
  EXPECT_EQ(Rules({0x53, 0xc3}, nullptr, SHF_ALLOC), "0: none\n");
}

TEST_F(DerivedRulesTest, WithoutABudgetNothingIsRead) {
  FrameBudget no_memory({.memory = 0});
  EXPECT_EQ(Rules({0x53, 0xc3}, &no_memory), "0: none\n");
  FrameBudget no_instructions({.instructions = 0});
  EXPECT_EQ(Rules({0x53, 0xc3}, &no_instructions), "0: none\n");
}

TEST_F(DerivedRulesTest, MemoryIsGivenBack) {
  FrameBudget budget;
  const uint64_t before = budget.memory_left();
  EXPECT_NE(Rules({0x53, 0x5b, 0xc3}, &budget), "0: none\n");
  EXPECT_EQ(budget.memory_left(), before);
}

TEST_F(DerivedRulesTest, OnI386WordsHaveFourBytes) {
  const ByteBuilder code{0x55,              // push %ebp
                         0x89, 0xe5,        // mov %esp, %ebp
                         0x83, 0xec, 0x18,  // sub $24, %esp
                         0xc9,              // leave
                         0xc3};             // ret
  EXPECT_EQ(Rules(code, nullptr, SHF_ALLOC | SHF_EXECINSTR, EM_386),
            "0: sp+4\n"
            "1: sp+8\n"
            "3: fp+8 fp at -8\n"
            "7: sp+4\n");
}

TEST_F(DerivedRulesTest, AFrameThatIsAlignedIsWhereItHasSavedTheCallersStackPointer) {
  EXPECT_EQ(Rules({0x8d, 0x4c, 0x24, 0x04,     // lea 4(%esp), %ecx
                   0x83, 0xe4, 0xf0,           // and $-16, %esp
                   0xff, 0x71, 0xfc,           // push -4(%ecx)
                   0x55,                       // push %ebp
                   0x89, 0xe5,                 // mov %esp, %ebp
                   0x57,                       // push %edi
                   0xe8, 0x20, 0,    0,    0,  // call __x86.get_pc_thunk.di
                   0x51,                       // push %ecx
                   0x83, 0xec, 0x10,           // sub $16, %esp
                   0x89, 0xc1,                 // mov %eax, %ecx
                   0x90},
                  nullptr, SHF_ALLOC | SHF_EXECINSTR, EM_386),
            "0: sp+4\n7: none\n14: at fp-8 fp at fp+0\n");
  EXPECT_EQ(Rules({0x4c, 0x8d, 0x54, 0x24, 0x08,  // lea 8(%rsp), %r10
                   0x48, 0x83, 0xe4, 0xe0,        // and $-32, %rsp
                   0x41, 0xff, 0x72, 0xf8,        // push -8(%r10)
                   0x55,                          // push %rbp
                   0x48, 0x89, 0xe5,              // mov %rsp, %rbp
                   0x41, 0x52,                    // push %r10
                   0x90}),
            "0: sp+8\n9: none\n13: at fp-8 fp at fp+0\n");
}

TEST_F(DerivedRulesTest, WhatBeginsLikeAFunctionWhereAnotherOneEndsIsOne) {
  EXPECT_EQ(Rules({0x53,        // push %rbx
                   0x5b,        // pop %rbx
                   0xc3,        // ret
                   0x55,        // push %rbp
                   0x53,        // push %rbx
                   0x90,        // nop
                   0x5b, 0x5d,  // pop %rbx; pop %rbp
                   0xc3}),      // ret
            "0: sp+8\n1: sp+16\n2: sp+8\n4: sp+16\n5: sp+24\n7: sp+16\n8: sp+8\n");
}

TEST_F(DerivedRulesTest, OnI386RoomForArgumentsBehindACallIsNoFunction) {
  ByteBuilder code{0x53};                      // push %ebx
  code.Pad(11, 0x90).U8(0xe8).U32(0x1000);     // nop …; call, up to a function's alignment
  code.Bytes({0x83, 0xec, 0x0c,                // sub $12, %esp
              0x83, 0xc4, 0x0c, 0x5b, 0xc3});  // add $12, %esp; pop %ebx; ret
  EXPECT_EQ(Rules(code, nullptr, SHF_ALLOC | SHF_EXECINSTR, EM_386),
            "0: sp+4\n1: sp+8\n13: sp+20\n16: sp+8\n17: sp+4\n");
}

TEST_F(DerivedRulesTest, OnI386ACallOfTheNextInstructionAsksWhereItIs) {
  EXPECT_EQ(Rules({0x53,              // push %ebx
                   0xe8, 0, 0, 0, 0,  // call +0
                   0x5b,              // pop %ebx
                   0x90,              // nop
                   0x5b,              // pop %ebx
                   0xc3},             // ret
                  nullptr, SHF_ALLOC | SHF_EXECINSTR, EM_386),
            "0: sp+4\n1: sp+8\n6: sp+12\n7: sp+8\n9: sp+4\n");
}

TEST_F(DerivedRulesTest, OnI386AFunctionWhoseAddressIsTakenStartsThere) {
  constexpr uint64_t kTable = 0x8000;
  constexpr size_t kOther = 0x20;
  const auto rules_with = [&](const ByteBuilder& taking, uint16_t type) {
    ByteBuilder code{taking};
    code.U8(0xc3).Pad(kOther, 0xcc).Bytes({0x53, 0x53, 0x58, 0x58, 0xc3});
    const std::vector<std::byte> file =
        ElfBuilder(EM_386)
            .Type(type)
            .Section(".got.plt", kTable, ByteBuilder().U32(0))
            .Section(".text", kText, code, SHF_ALLOC | SHF_EXECINSTR)
            .Build();
    const ElfImage image = *ElfImage::Parse(file);
    const FunctionStarts starts = FindFunctionStarts(Architecture::kI386, GlobalOffsetTable(image),
                                                     {}, CodeOf(image), nullptr);
    return std::binary_search(starts.certain.begin(), starts.certain.end(),
                              ElfAddress{kText + kOther});
  };
  constexpr auto kOtherAddress = static_cast<uint32_t>(kText + kOther);
  EXPECT_TRUE(rules_with(ByteBuilder{0x68}.U32(kOtherAddress), ET_EXEC));  // push
  EXPECT_TRUE(rules_with(ByteBuilder{0xba}.U32(kOtherAddress), ET_EXEC));  // mov to %edx
  EXPECT_TRUE(
      rules_with(ByteBuilder{0xc7, 0x04, 0x24}.U32(kOtherAddress), ET_EXEC));  // mov to (%esp)
  EXPECT_TRUE(rules_with(ByteBuilder{0xc7, 0x44, 0x24, 8}.U32(kOtherAddress), ET_EXEC));
  EXPECT_TRUE(rules_with(ByteBuilder{0xc7, 0x40, 8}.U32(kOtherAddress), ET_EXEC));  // to 8(%eax)
  EXPECT_TRUE(rules_with(ByteBuilder{0xc7, 0x05}.U32(0).U32(kOtherAddress), ET_EXEC));
  EXPECT_TRUE(rules_with(ByteBuilder{0x8d, 0x83}.U32(kOtherAddress - uint32_t{kTable}),
                         ET_DYN));  // lea …(%ebx)
  EXPECT_FALSE(rules_with(ByteBuilder{0x68}.U32(kOtherAddress), ET_DYN)) << "there it is a number";
}

}  // namespace
}  // namespace profiler::symbolize
