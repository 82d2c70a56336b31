#include "src/annotate/disassembler.h"

#include <elf.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace profiler::annotate {
namespace {

std::vector<std::byte> Bytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// A line an instruction, from address 0x1000 on.
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
            "1010: jnz 0x1002 → 1002\n"
            "1012: vmovdqa32z (%rdi), %zmm0\n"
            "1018: lock cmpxchg %ecx, (%rdi)\n"
            "101c: (bad)\n"
            "101d: ret\n");
}

TEST(DisassemblerTest, WritesX86AsIntelDoes) {
  EXPECT_EQ(
      Listing(EM_X86_64, Bytes({0x48, 0x89, 0xe5, 0x83, 0x6c, 0x24, 0x1c, 1}), Syntax::kIntel),
      "1000: mov rbp, rsp\n"
      "1003: sub dword ptr [rsp+0x1c], 0x1\n");
  EXPECT_EQ(Listing(EM_386, Bytes({0x40, 0xc3}), Syntax::kIntel), "1000: inc eax\n1001: ret\n");
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

TEST(DisassemblerTest, AnotherMachineIsRefused) {
  EXPECT_EQ(Listing(EM_S390, kX86), "no disassembler for machine 22 of <elf.h>");
}

}  // namespace
}  // namespace profiler::annotate
