#include "src/format/perf_event/attr_codec.h"

#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/byte_reader.h"

namespace profiler::perf_event {
namespace {

// Returns an attr whose fields all differ. precise_ip is 1, which differs from its mirror image, 2.
Attr FullAttr() {
  return {.type = 1,
          .size = sizeof(Attr),
          .config = 2,
          .sample_period = 3,
          .sample_type = 4,
          .read_format = 5,
          .flags = kAttrDisabled | kAttrFreq | 1ull << kAttrPreciseIpShift | kAttrDeferOutput,
          .wakeup_events = 6,
          .bp_type = 7,
          .config1 = 8,
          .config2 = 9,
          .branch_sample_type = 10,
          .sample_regs_user = 11,
          .sample_stack_user = 12,
          .clockid = -13,
          .sample_regs_intr = 14,
          .aux_watermark = 15,
          .sample_max_stack = 16,
          .reserved_2 = 17,
          .aux_sample_size = 18,
          .aux_action = 19,
          .sig_data = 20,
          .config3 = 21,
          .config4 = 22};
}

TEST(AttrCodecTest, ComesBackInBothByteOrders) {
  std::vector<std::byte> bytes;
  WriteAttr(FullAttr(), &bytes);
  ASSERT_EQ(bytes.size(), sizeof(Attr));
  const auto native = ReadAttr(bytes, false);
  ASSERT_TRUE(native.ok()) << native.status();
  EXPECT_EQ(native->attr, FullAttr());
  EXPECT_EQ(native->bytes, sizeof(Attr));

  const Attr foreign = SwapAttrToForeign(FullAttr());
  const auto turned = ReadAttr(BytesOf(foreign), true);
  ASSERT_TRUE(turned.ok()) << turned.status();
  EXPECT_EQ(turned->attr, FullAttr());
}

TEST(AttrCodecTest, ABigEndianRecorderNumbersFlagsFromTheTopOfEachByte) {
  Attr attr;
  const auto foreign_flags = [&](uint64_t flags) {
    attr.flags = flags;
    const Attr foreign = SwapAttrToForeign(attr);
    return std::vector<std::byte>(BytesOf(foreign.flags).begin(), BytesOf(foreign.flags).end());
  };
  const auto byte = [](size_t index, int value) {
    std::vector<std::byte> bytes(8);
    bytes[index] = std::byte(value);
    return bytes;
  };
  EXPECT_EQ(foreign_flags(kAttrDisabled), byte(0, 0x80));
  EXPECT_EQ(foreign_flags(kAttrInherit), byte(0, 0x40));
  EXPECT_EQ(foreign_flags(kAttrMmap), byte(1, 0x80));
  EXPECT_EQ(foreign_flags(kAttrSampleIdAll), byte(2, 0x20));
  // precise_ip is a number in bits 15 and 16. Its high bit comes first, in byte 1.
  EXPECT_EQ(foreign_flags(2ull << kAttrPreciseIpShift), byte(1, 0x01));
  EXPECT_EQ(foreign_flags(1ull << kAttrPreciseIpShift), byte(2, 0x80));
}

TEST(AttrCodecTest, OldSizesHaveZeroesForWhatTheyLack) {
  for (uint32_t size : {64, 72, 80, 96, 104, 112, 120, 128, 136, 144}) {
    Attr attr = FullAttr();
    attr.size = size;
    std::vector<std::byte> bytes;
    WriteAttr(attr, &bytes);
    EXPECT_EQ(bytes.size(), size);
    bytes.resize(size + 16, std::byte{0xee});  // as if ids followed
    const auto decoded = ReadAttr(bytes, false);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded->bytes, size);
    EXPECT_EQ(decoded->attr.config4, size == 144 ? 22u : 0u) << size;
    EXPECT_EQ(decoded->attr.config2, size >= 72 ? 9u : 0u) << size;
    EXPECT_TRUE(decoded->unknown_tail.empty());
  }
}

TEST(AttrCodecTest, SizeZeroIsTheFirstPublishedOne) {
  std::vector<std::byte> bytes;
  WriteAttr(FullAttr(), &bytes);
  std::memset(bytes.data() + 4, 0, 4);
  const auto decoded = ReadAttr(bytes, false);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->bytes, 64u);
  EXPECT_EQ(decoded->attr.size, 64u);
  EXPECT_EQ(decoded->attr.config2, 0u);
}

TEST(AttrCodecTest, WhatANewerKernelAddedIsHandedOut) {
  std::vector<std::byte> bytes;
  Attr attr = FullAttr();
  attr.size = sizeof(Attr) + 16;
  WriteAttr(attr, &bytes);
  bytes.back() = std::byte{0x5a};
  const auto decoded = ReadAttr(bytes, false);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->bytes, sizeof(Attr) + 16);
  ASSERT_EQ(decoded->unknown_tail.size(), 16u);
  EXPECT_EQ(decoded->unknown_tail[15], std::byte{0x5a});
}

TEST(AttrCodecTest, ImpossibleSizesAreDataLoss) {
  std::vector<std::byte> bytes;
  WriteAttr(FullAttr(), &bytes);
  for (uint32_t size : {1u, 63u, 145u, 0xffffffffu}) {
    std::memcpy(bytes.data() + 4, &size, 4);
    EXPECT_EQ(ReadAttr(bytes, false).status().code(), absl::StatusCode::kDataLoss) << size;
  }
  for (size_t length = 0; length < 64; ++length) {
    EXPECT_EQ(ReadAttr(std::span(bytes).first(length), false).status().code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(AttrCodecTest, SmallestSizeHoldsEveryFieldThatIsSet) {
  EXPECT_EQ(SmallestSize(Attr{}), 64u);
  EXPECT_EQ(SmallestSize(Attr{.config1 = 1}), 64u);
  EXPECT_EQ(SmallestSize(Attr{.config2 = 1}), 72u);
  EXPECT_EQ(SmallestSize(Attr{.branch_sample_type = 1}), 80u);
  EXPECT_EQ(SmallestSize(Attr{.clockid = 1}), 96u);
  EXPECT_EQ(SmallestSize(Attr{.sample_regs_intr = 1}), 104u);
  EXPECT_EQ(SmallestSize(Attr{.sample_max_stack = 1}), 112u);
  EXPECT_EQ(SmallestSize(Attr{.aux_sample_size = 1}), 120u);
  EXPECT_EQ(SmallestSize(Attr{.sig_data = 1}), 128u);
  EXPECT_EQ(SmallestSize(Attr{.config3 = 1}), 136u);
  EXPECT_EQ(SmallestSize(Attr{.config4 = 1}), 144u);
}

}  // namespace
}  // namespace profiler::perf_event
