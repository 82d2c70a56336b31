#include "symbolize/process_memory.h"

#include <vector>

#include "gtest/gtest.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kPage = 4096, kStart = 16 * kPage;

// Two pages from kStart on, of which each byte is `value`.
class FakeMemory : public ProcessMemory {
 public:
  bool Read(uint64_t address, std::span<std::byte> bytes) override {
    ++reads;
    if (address < kStart || address + bytes.size() > kStart + 2 * kPage) return false;
    for (std::byte& byte : bytes) byte = value;
    return true;
  }

  std::byte value{1};
  int reads = 0;
};

class PagedMemoryTest : public testing::Test {
 protected:
  FakeMemory memory_;
  PagedMemory paged_{memory_};
};

TEST_F(PagedMemoryTest, FieldsOfOnePageTakeOneRead) {
  EXPECT_EQ(paged_.Value<uint16_t>(kStart), 0x0101);
  EXPECT_EQ(paged_.Value<uint16_t>(kStart + kPage - 2), 0x0101);
  EXPECT_EQ(memory_.reads, 1);
}

TEST_F(PagedMemoryTest, AFieldMayLieInTwoPages) {
  EXPECT_EQ(paged_.Value<uint32_t>(kStart + kPage - 1), 0x01010101u);
  EXPECT_EQ(memory_.reads, 2);
  EXPECT_FALSE(paged_.Value<uint32_t>(kStart + 2 * kPage - 1).has_value());
}

TEST_F(PagedMemoryTest, WhatIsKeptIsAsItWasUntilItIsForgotten) {
  EXPECT_EQ(paged_.Value<uint8_t>(kStart), 1);
  memory_.value = std::byte{2};
  EXPECT_EQ(paged_.Value<uint8_t>(kStart + 8), 1);
  paged_.Forget();
  EXPECT_EQ(paged_.Value<uint8_t>(kStart + 8), 2);
}

TEST_F(PagedMemoryTest, PagesWithOnePlaceTakeTurns) {
  EXPECT_FALSE(paged_.Value<uint8_t>(kStart + 64 * kPage).has_value());
  EXPECT_EQ(paged_.Value<uint8_t>(kStart), 1);
  EXPECT_FALSE(paged_.Value<uint8_t>(kStart + 64 * kPage).has_value());
  EXPECT_EQ(paged_.Value<uint8_t>(kStart), 1);
}

TEST_F(PagedMemoryTest, WhatIsLargerThanAPageIsReadAsItIs) {
  std::vector<std::byte> bytes(2 * kPage);
  EXPECT_TRUE(paged_.Read(kStart, bytes));
  EXPECT_EQ(bytes.back(), std::byte{1});
  EXPECT_EQ(memory_.reads, 1);
}

}  // namespace
}  // namespace profiler::symbolize
