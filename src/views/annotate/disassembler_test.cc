#include "src/views/annotate/disassembler.h"

#include <elf.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/code_machine.h"

namespace profiler::annotate {
namespace {

std::vector<std::byte> Bytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// Returns one line per instruction, from address 0x1000 on.
std::string Listing(uint16_t machine, const std::vector<std::byte>& code,
                    Syntax syntax = Syntax::kAtt) {
  auto disassembler = Disassembler::Create(machine, syntax);
  if (!disassembler.ok()) return std::string(disassembler.status().message());
  std::string text;
  for (size_t at = 0; at < code.size();) {
    const Instruction instruction =
        (*disassembler)->Decode(std::span(code).subspan(at), 0x1000 + at);
    absl::StrAppend(&text, absl::Hex(0x1000 + at), ": ", instruction.text);
    if (instruction.target) absl::StrAppend(&text, " → ", absl::Hex(*instruction.target));
    if (instruction.data) absl::StrAppend(&text, " # ", absl::Hex(*instruction.data));
    text += '\n';
    at += instruction.size;
  }
  return text;
}

const std::vector<std::byte> kX86 =
    Bytes({0x55, 0x48, 0x89, 0xe5, 0xe8, 0x10, 0,    0,    0,    0x48, 0x8b, 0x05, 0xd1, 0x2e, 0, 0,
           0x75, 0xf0, 0x62, 0xf1, 0x7d, 0x48, 0x6f, 0x07, 0xf0, 0x0f, 0xb1, 0x0f, 0x06, 0xc3});

TEST(DisassemblerTest, WritesX86AsTheGnuAssemblerDoes) {
  EXPECT_EQ(Listing(EM_X86_64, kX86),
            "1000: push %rbp\n"
            "1001: mov %rsp, %rbp\n"
            "1004: call 0x1019 → 1019\n"
            "1009: mov 0x2ed1(%rip), %rax # 3ee1\n"
            "1010: jne 0x1002 → 1002\n"
            "1012: vmovdqa32 (%rdi), %zmm0\n"
            "1018: lock cmpxchg %ecx, (%rdi)\n"
            "101c: (bad)\n"
            "101d: ret\n");
}

TEST(DisassemblerTest, WritesX86AsIntelDoes) {
  EXPECT_EQ(
      Listing(EM_X86_64, Bytes({0x48, 0x89, 0xe5, 0x83, 0x6c, 0x24, 0x1c, 1}), Syntax::kIntel),
      "1000: mov rbp, rsp\n"
      "1003: sub DWORD PTR [rsp+0x1c], 0x1\n");
  EXPECT_EQ(Listing(EM_386, Bytes({0x40, 0xc3}), Syntax::kIntel), "1000: inc eax\n1001: ret\n");
}

struct Spelled {
  std::vector<std::byte> code;
  std::string_view att, intel;
};

TEST(DisassemblerTest, SpellsX86AsPeopleReadIt) {
  const std::vector<Spelled> cases = {
      {Bytes({0x7f, 0x10}), "jg 0x1012", "jg 0x1012"},
      {Bytes({0x7d, 0x10}), "jge 0x1012", "jge 0x1012"},
      {Bytes({0x77, 0x10}), "ja 0x1012", "ja 0x1012"},
      {Bytes({0x73, 0x10}), "jae 0x1012", "jae 0x1012"},
      {Bytes({0x74, 0x10}), "je 0x1012", "je 0x1012"},
      {Bytes({0x78, 0x10}), "js 0x1012", "js 0x1012"},
      {Bytes({0xe3, 0x10}), "jrcxz 0x1012", "jrcxz 0x1012"},
      {Bytes({0x0f, 0x95, 0xc0}), "setne %al", "setne al"},
      {Bytes({0x48, 0x0f, 0x44, 0xf8}), "cmove %rax, %rdi", "cmove rdi, rax"},
      {Bytes({0x90}), "nop", "nop"},
      {Bytes({0x66, 0x90}), "xchg %ax, %ax", "xchg ax, ax"},
      {Bytes({0x0f, 0x1f, 0x00}), "nopl (%rax)", "nop DWORD PTR [rax]"},
      {Bytes({0x0f, 0x1f, 0x44, 0, 0}), "nopl 0x0(%rax,%rax,1)", "nop DWORD PTR [rax+rax*1+0x0]"},
      {Bytes({0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}),
       "data16 cs nopw 0x0(%rax,%rax,1)", "data16 cs nop WORD PTR [rax+rax*1+0x0]"},
      {Bytes({0xf3, 0x0f, 0x1e, 0xfa}), "endbr64", "endbr64"},
      {Bytes({0x41, 0x8b, 0x45, 0x00}), "mov 0x0(%r13), %eax", "mov eax, DWORD PTR [r13+0x0]"},
      {Bytes({0x64, 0x8b, 0x40, 0x00}), "mov %fs:0x0(%rax), %eax",
       "mov eax, DWORD PTR fs:[rax+0x0]"},
      {Bytes({0x0f, 0xb6, 0x07}), "movzbl (%rdi), %eax", "movzx eax, BYTE PTR [rdi]"},
      {Bytes({0x48, 0x63, 0xf6}), "movslq %esi, %rsi", "movsxd rsi, esi"},
      {Bytes({0x48, 0x98}), "cltq", "cdqe"},
      {Bytes({0x83, 0xf8, 0xff}), "cmp $0xffffffff, %eax", "cmp eax, 0xffffffff"},
      {Bytes({0x49, 0xbb, 1, 0, 0, 0, 0, 0, 0, 0x80}), "movabs $0x8000000000000001, %r11",
       "movabs r11, 0x8000000000000001"},
      {Bytes({0xff, 0x14, 0x24}), "call *(%rsp)", "call QWORD PTR [rsp]"},
      {Bytes({0xff, 0xe0}), "jmp *%rax", "jmp rax"},
      {Bytes({0xdb, 0x6c, 0x24, 0x18}), "fldt 0x18(%rsp)", "fld TBYTE PTR [rsp+0x18]"},
      {Bytes({0xd9, 0xc9}), "fxch %st(1)", "fxch st(1)"},
      {Bytes({0xde, 0xe9}), "fsubrp %st, %st(1)", "fsubp st(1), st"},
      {Bytes({0xf2, 0x48, 0x0f, 0x2a, 0x07}), "cvtsi2sdq (%rdi), %xmm0",
       "cvtsi2sd xmm0, QWORD PTR [rdi]"},
      {Bytes({0xf3, 0xab}), "rep stosl", "rep stosd"},
      {Bytes({0x48, 0x8d, 0x40, 0x08}), "lea 0x8(%rax), %rax", "lea rax, [rax+0x8]"},
  };
  for (const Spelled& spelled : cases) {
    for (const Syntax syntax : {Syntax::kAtt, Syntax::kIntel}) {
      const Instruction instruction =
          (*Disassembler::Create(EM_X86_64, syntax))->Decode(spelled.code, 0x1000);
      EXPECT_EQ(instruction.text, syntax == Syntax::kAtt ? spelled.att : spelled.intel);
      EXPECT_EQ(instruction.size, spelled.code.size()) << spelled.att;
    }
  }
}

TEST(DisassemblerTest, WritesAArch64) {
  EXPECT_EQ(
      Listing(EM_AARCH64, Bytes({0xfd, 0x7b, 0xbf, 0xa9, 0x03, 0x00, 0x00, 0x94, 0x60, 0xff,
                                 0xff, 0xb4, 0xff, 0xff, 0xff, 0xff, 0xc0, 0x03, 0x5f, 0xd6})),
      "1000: stp x29, x30, [sp, #-0x10]!\n"
      "1004: bl #0x1010 → 1010\n"
      "1008: cbz x0, #0xff4 → ff4\n"
      "100c: (bad)\n"
      "1010: ret\n");
}

TEST(DisassemblerTest, CodeThatIsCutOffIsBad) {
  EXPECT_EQ(Listing(EM_X86_64, Bytes({0x48, 0x8b, 0x05})),
            "1000: (bad)\n1001: (bad)\n1002: (bad)\n");
  EXPECT_EQ(Listing(EM_AARCH64, Bytes({0x1f, 0x20})), "1000: (bad)\n");
}

TEST(DisassemblerTest, WritesArmAndThumb) {
  EXPECT_EQ(Listing(EM_ARM, Bytes({0x00, 0x48, 0x2d, 0xe9, 0x01, 0x00, 0x00, 0xeb, 0x1e, 0xff, 0x2f,
                                   0xe1})),
            "1000: push {fp, lr}\n1004: bl #0x1010 → 1010\n1008: bx lr\n");
  EXPECT_EQ(Listing(EM_ARM | symbolize::kThumbCode, Bytes({0x10, 0xb5, 0x00, 0xf0, 0x02, 0xf8, 0x01,
                                                           0x30, 0xfc, 0xd1, 0x70, 0x47})),
            "1000: push {r4, lr}\n1002: bl #0x100a → 100a\n1006: adds r0, #1\n"
            "1008: bne #0x1004 → 1004\n100a: bx lr\n");
}

TEST(DisassemblerTest, WritesTheByteOrderOfTheImage) {
  EXPECT_EQ(Listing(EM_PPC64, Bytes({0x20, 0x00, 0x80, 0x4e})), "1000: blr\n");
  EXPECT_EQ(Listing(EM_PPC64 | symbolize::kBigEndianCode, Bytes({0x4e, 0x80, 0x00, 0x20})),
            "1000: blr\n");
  EXPECT_EQ(Listing(EM_S390, Bytes({0x07, 0xfe})), "1000: br %r14\n");
  EXPECT_EQ(Listing(EM_MIPS, Bytes({0x08, 0x00, 0xe0, 0x03})), "1000: jr $ra\n");
  EXPECT_EQ(Listing(EM_MIPS | symbolize::k64BitCode | symbolize::kBigEndianCode,
                    Bytes({0x03, 0xe0, 0x00, 0x08})),
            "1000: jr $ra\n");
  EXPECT_EQ(Listing(EM_SPARCV9, Bytes({0x81, 0xc3, 0xe0, 0x08})), "1000: retl\n");
}

TEST(DisassemblerTest, AMachineThatIsNotDecodedIsRefusedWithARemedy) {
  EXPECT_EQ(Listing(EM_RISCV, kX86),
            "instructions of RISC-V cannot be shown: Capstone 4 does not decode them. Install "
            "binutils-riscv64-linux-gnu and run riscv64-linux-gnu-objdump -d on the image");
  EXPECT_EQ(
      Listing(EM_68K, kX86),
      "instructions of machine 4 of <elf.h> cannot be shown: Capstone 4 does not decode them. "
      "Run objdump -d of that machine");
}

}  // namespace
}  // namespace profiler::annotate
