#include "symbolize/unwind/stack_depth.h"

#include <dwarf.h>
#include <elf.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/testing/cfi_builder.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kText = 0x1000;

// push rbp; mov rbp, rsp: the start of each function in these tests.
const ByteBuilder kPrologue{0x55, 0x48, 0x89, 0xe5};
const ByteBuilder kRules{DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset,   16, DW_CFA_offset | 6, 2,
                         DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6};

// Returns the depth after the call whose return address is `at` bytes after the prologue.
std::string DepthAt(std::initializer_list<int> body, uint64_t at,
                    const ByteBuilder& rules = kRules) {
  ByteBuilder code = kPrologue;
  for (const int byte : body) code.U8(byte);
  EhFrameBuilder frames(0x50000, {});
  frames.Add({.start = kText, .size = code.size(), .instructions = rules});
  const std::vector<std::byte> file =
      ElfBuilder(EM_X86_64).Section(".eh_frame", 0x50000, frames.section()).Build();
  const auto table = *CfiTable::Create(*ElfImage::Parse(file));
  const auto depth = StackDepthAt(*table, {{kText}, code.size()}, code.bytes(),
                                  {kText + kPrologue.size() + at}, /*is_return_address=*/true);
  return depth ? absl::StrCat(*depth) : "unknown";
}

TEST(StackDepthTest, CountsWhatTheInstructionsTake) {
  // push rbx; sub rsp, 24; call
  EXPECT_EQ(DepthAt({0x53, 0x48, 0x83, 0xec, 0x18, 0xe8, 0, 0, 0, 0, 0xc3}, 10), "48");
}

TEST(StackDepthTest, FollowsBranches) {
  // test eax, eax; je over: ret; over: push rbx; call
  EXPECT_EQ(DepthAt({0x85, 0xc0, 0x74, 1, 0xc3, 0x53, 0xe8, 0, 0, 0, 0, 0x5b}, 11), "24");
}

TEST(StackDepthTest, GivesNoAnswerWherePathsDisagree) {
  // je over: push rbx; over: call
  EXPECT_EQ(DepthAt({0x74, 1, 0x53, 0xe8, 0, 0, 0, 0, 0xc3}, 8), "unknown");
}

TEST(StackDepthTest, GivesNoAnswerForAnAmountInARegister) {
  // sub rsp, rax; call
  EXPECT_EQ(DepthAt({0x48, 0x29, 0xc4, 0xe8, 0, 0, 0, 0, 0xc3}, 8), "unknown");
}

TEST(StackDepthTest, KnowsTheDepthAgainWhereItIsCountedFromTheFramePointer) {
  // sub rsp, rax; lea rsp, [rbp - 32]; call
  EXPECT_EQ(DepthAt({0x48, 0x29, 0xc4, 0x48, 0x8d, 0x65, 0xe0, 0xe8, 0, 0, 0, 0, 0xc3}, 12), "48");
}

TEST(StackDepthTest, FollowsJumpsThroughTables) {
  // push rbx; jmp rax; call
  EXPECT_EQ(DepthAt({0x53, 0xff, 0xe0, 0xe8, 0, 0, 0, 0, 0xc3}, 8), "24");
}

TEST(StackDepthTest, GivesNoAnswerWhereJumpsThroughTablesDisagree) {
  // je over: push rbx; jmp rax; over: jmp rax; call
  EXPECT_EQ(DepthAt({0x74, 3, 0x53, 0xff, 0xe0, 0xff, 0xe0, 0xe8, 0, 0, 0, 0, 0xc3}, 12),
            "unknown");
}

TEST(StackDepthTest, GivesNoAnswerForThePartOfAFunctionThatWasMovedAway) {
  EXPECT_EQ(DepthAt({0xe8, 0, 0, 0, 0, 0xc3}, 5, ByteBuilder{DW_CFA_def_cfa, 6, 16}), "unknown");
}

}  // namespace
}  // namespace profiler::symbolize
