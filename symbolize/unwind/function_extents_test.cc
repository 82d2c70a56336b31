#include "symbolize/unwind/function_extents.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/unwind/testing/cfi_builder.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kText = 0x1000, kFrames = 0x5000;

// Returns a file with code from 0x1000 to 0x1100. It has a function of 16 bytes at 0x1010 and a
// function of 32 bytes at 0x1040.
std::vector<std::byte> File(uint16_t machine = EM_X86_64) {
  EhFrameBuilder frames(kFrames, {});
  frames.Add({.start = 0x1010, .size = 0x10});
  frames.Add({.start = 0x1040, .size = 0x20});
  ByteBuilder code;
  for (int i = 0; i < 0x100; ++i) code.U8(0x90);
  return ElfBuilder(machine)
      .Section(".text", kText, code, SHF_ALLOC | SHF_EXECINSTR)
      .Section(".eh_frame", kFrames, frames.section())
      .Build();
}

TEST(FunctionExtentsTest, FindsTheFunctionThatHasTheCode) {
  const auto file = File();
  const ElfImage image = *ElfImage::Parse(file);
  FunctionExtents extents(&image, &image);
  EXPECT_FALSE(extents.Find({0x100f}));
  ASSERT_TRUE(extents.Find({0x101f}));
  EXPECT_EQ(extents.Find({0x101f})->start, ElfAddress{0x1010});
  EXPECT_EQ(extents.Find({0x101f})->size, 0x10u);
  EXPECT_FALSE(extents.Find({0x1020}));
  EXPECT_EQ(extents.Find({0x1040})->start, ElfAddress{0x1040});
}

TEST(FunctionExtentsTest, WhatHasNoSizeEndsWhereAnotherFunctionIsKnown) {
  const auto file = File();
  const ElfImage image = *ElfImage::Parse(file);
  FunctionExtents extents(&image, &image);
  const auto reaches = [&](uint64_t start, std::initializer_list<uint64_t> addresses) {
    std::string text;
    for (const uint64_t address : addresses) {
      absl::StrAppend(&text, extents.MayBeOne({start}, {address}) ? "y" : "n");
    }
    return text;
  };
  // An unknown function may extend to the next known one, or to the end of its section.
  EXPECT_EQ(reaches(0x1000, {0x1000, 0x100f, 0x1010, 0x101f, 0x1050}), "yynnn");
  EXPECT_EQ(reaches(0x1060, {0x1060, 0x10ff, 0x1100}), "yyn");
  // A label inside a known function, and a known function itself.
  EXPECT_EQ(reaches(0x1014, {0x1018, 0x101f, 0x1030, 0x1040}), "yyyn");
  EXPECT_EQ(reaches(0x1040, {0x1040, 0x105f}), "yy");
}

TEST(FunctionExtentsTest, NothingIsKnownOfAnImageWithoutCallFrameInformation) {
  FunctionExtents none;
  EXPECT_FALSE(none.Find({0x1010}));
  EXPECT_TRUE(none.MayBeOne({0x1000}, {0x1010}));
  const auto file = File(EM_RISCV);
  const ElfImage image = *ElfImage::Parse(file);
  FunctionExtents other(&image, nullptr);
  EXPECT_FALSE(other.Find({0x1010}));
  EXPECT_TRUE(other.MayBeOne({0x1000}, {0x1010}));
  EXPECT_FALSE(other.MayBeOne({0x1000}, {0x1100}));
}

}  // namespace
}  // namespace profiler::symbolize
