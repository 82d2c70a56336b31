#include "symbolize/unwind/arch/aarch64/code.h"

#include <array>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace profiler::symbolize::aarch64 {
namespace {

// Encodings from GNU as.
constexpr uint32_t kBtiC = 0xd503245f, kPaciasp = 0xd503233f, kAutiasp = 0xd50323bf,
                   kRet = 0xd65f03c0, kRetaa = 0xd65f0bff, kBl = 0x94000004, kBlr = 0xd63f0020,
                   kBlraa = 0xd73f0822, kB = 0x14000002;
constexpr uint32_t kPushRecord = 0xa9be7bfd;   // stp x29, x30, [sp, #-32]!
constexpr uint32_t kPopRecord = 0xa8c27bfd;    // ldp x29, x30, [sp], #32
constexpr uint32_t kStoreRecord = 0xa9017bfd;  // stp x29, x30, [sp, #16]
constexpr uint32_t kLoadRecord = 0xa9417bfd;   // ldp x29, x30, [sp, #16]
constexpr uint32_t kPushLink = 0xf81f0ffe;     // str x30, [sp, #-16]!
constexpr uint32_t kPopLink = 0xf84107fe;      // ldr x30, [sp], #16
constexpr uint32_t kLoadPair = 0xa94153f3;     // ldp x19, x20, [sp, #16]
constexpr uint32_t kSetRecord = 0x910003fd;    // mov x29, sp
constexpr uint32_t kSetUpper = 0x910043fd;     // add x29, sp, #16
constexpr uint32_t kAdd48 = 0x9100c3ff;        // add sp, sp, #48
constexpr uint32_t kSub48 = 0xd100c3ff;        // sub sp, sp, #48
constexpr uint32_t kFromFp = 0x910003bf;       // mov sp, x29
constexpr uint32_t kMove = 0x2a1303e0;         // mov w0, w19
constexpr uint32_t kCompare = 0x71000c1f;      // cmp w0, #3
constexpr uint32_t kTest = 0xf240001f;         // tst x0, #1

std::vector<uint8_t> Bytes(std::initializer_list<uint32_t> instructions, size_t size) {
  std::vector<uint8_t> bytes(std::max(size, instructions.size() * kInstruction));
  size_t at = 0;
  for (const uint32_t instruction : instructions) {
    std::memcpy(&bytes[at], &instruction, kInstruction);
    at += kInstruction;
  }
  return bytes;
}

std::string Text(const std::optional<ReturnPath>& back) {
  if (!back) return "unknown";
  std::string text =
      back->in_link_register ? "link" : absl::StrCat("return ", back->return_address);
  if (back->frame_pointer) absl::StrAppend(&text, " frame ", *back->frame_pointer);
  if (back->caller_stack) absl::StrAppend(&text, " stack ", *back->caller_stack);
  return text;
}

std::string WayOf(std::initializer_list<uint32_t> instructions, bool is_interrupted) {
  const std::vector<uint8_t> bytes = Bytes(instructions, kBareFrameCode);
  return Text(FindReturnPath(std::span<const uint8_t, kBareFrameCode>(bytes), is_interrupted));
}

TEST(AArch64CodeTest, UntilAFrameIsSetUpTheLinkRegisterLeadsBack) {
  for (const uint32_t first : {kBtiC, kPaciasp, kPushRecord, kPushLink}) {
    EXPECT_EQ(WayOf({first}, true), "link stack 0");
    EXPECT_EQ(WayOf({first}, false), "unknown");
  }
  EXPECT_EQ(WayOf({kStoreRecord}, true), "link");
}

TEST(AArch64CodeTest, WhatSetsTheFramePointerSaysWhereTheRecordIs) {
  EXPECT_EQ(WayOf({kSetRecord}, true), "return 1 frame 0");
  EXPECT_EQ(WayOf({kSetUpper}, true), "return 3 frame 2");
}

TEST(AArch64CodeTest, WhatTakesAFrameDownSaysWhereItsCallerIs) {
  for (const bool is_interrupted : {true, false}) {
    EXPECT_EQ(WayOf({kPopRecord, kRet}, is_interrupted), "return 1 frame 0 stack 4");
    EXPECT_EQ(WayOf({kPopRecord, kAutiasp, kRet}, is_interrupted), "return 1 frame 0 stack 4");
    EXPECT_EQ(WayOf({kPopRecord, kRetaa}, is_interrupted), "return 1 frame 0 stack 4");
    EXPECT_EQ(WayOf({kMove, kPopLink, kRet}, is_interrupted), "return 0 stack 2");
    EXPECT_EQ(WayOf({kLoadRecord, kLoadPair, kAdd48, kRet}, is_interrupted),
              "return 3 frame 2 stack 6");
    EXPECT_EQ(WayOf({kAdd48, kPopRecord, kRet}, is_interrupted), "return 7 frame 6 stack 10");
  }
}

TEST(AArch64CodeTest, WhatReturnsWithoutLoadingTheLinkRegisterHasItStillWhereItWasInterrupted) {
  EXPECT_EQ(WayOf({kRet}, true), "link stack 0");
  EXPECT_EQ(WayOf({kCompare, kTest, kMove, kRet}, true), "link stack 0");
  EXPECT_EQ(WayOf({kAdd48, kRet}, true), "link stack 6");
  EXPECT_EQ(WayOf({kRet}, false), "unknown");
  EXPECT_EQ(WayOf({kAdd48, kRet}, false), "unknown");
}

TEST(AArch64CodeTest, WhatMayGoElsewhereIsNotFollowed) {
  for (const uint32_t other : {kB, kBl, kBlr, kSub48, kFromFp, kPushRecord, 0u}) {
    EXPECT_EQ(WayOf({kMove, other, kPopRecord, kRet}, true), "unknown")
        << absl::StrCat(absl::Hex(other));
  }
  EXPECT_EQ(WayOf({kMove, kMove, kMove, kMove, kMove, kMove, kMove, kMove}, true), "unknown");
}

TEST(AArch64CodeTest, ACallSaysWhereItLeads) {
  EXPECT_EQ(TargetOfCall(kBl, 0x1000), 0x1010u);
  EXPECT_EQ(TargetOfCall(0x97ffffff, 0x1000), 0xffcu);
  EXPECT_EQ(TargetOfCall(kBlr, 0x1000), std::nullopt);
  EXPECT_EQ(TargetOfCall(kB, 0x1000), std::nullopt);
}

std::string UseIn(std::initializer_list<uint32_t> instructions) {
  const LinkUse use = UseOfLink(Bytes(instructions, 0));
  return absl::StrCat(use.keeps_link ? "link" : "", use.keeps_stack ? " stack" : "");
}

TEST(AArch64CodeTest, TellsWhatUsesTheLinkRegisterAndTheStack) {
  EXPECT_EQ(UseIn({}), "link stack");
  EXPECT_EQ(UseIn({kMove, kCompare, kTest, kB, kRet, kBtiC}), "link stack");
  // str wzr, [sp, #12]; ldr x0, [x1], #8; subs x0, x0, #1; add x0, sp, #8
  EXPECT_EQ(UseIn({0xb9000fff, 0xf8408420, 0xf1000400, 0x910023e0}), "link stack");
  for (const uint32_t use :
       {kBl, kBlr, kBlraa, kStoreRecord, kLoadRecord, 0xf90007feu /* str x30, [sp, #8] */,
        0xaa0103feu /* mov x30, x1 */, 0xa900783du /* stp x29, x30, [x1] */}) {
    EXPECT_EQ(UseIn({kMove, use, kMove}), " stack") << absl::StrCat(absl::Hex(use));
  }
  // sub sp, sp, #1, lsl #12; sub sp, sp, x1; and sp, x0, #-16; str q31, str wzr [sp, #-16]!;
  // stp d8, d9, [sp, #-32]!; addvl sp, sp, #-18
  for (const uint32_t use : {kSub48, kAdd48, kFromFp, 0xd14007ffu, 0xcb2163ffu, 0x927cec1fu,
                             0x3c9f0fffu, 0xb81f0fffu, 0x6dbe27e8u, 0x043f55dfu}) {
    EXPECT_EQ(UseIn({kMove, use}), "link") << absl::StrCat(absl::Hex(use));
  }
  EXPECT_EQ(UseIn({kPushRecord}), "");
}

}  // namespace
}  // namespace profiler::symbolize::aarch64
