#include "symbolize/process_memory.h"

#include <vector>

#include "gtest/gtest.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kPage = 4096, kStart = 16 * kPage;

// Memory of `pages` pages at kStart, in which each byte is `value`.
class FakeMemory : public ProcessMemory {
 public:
  bool Read(uint64_t address, std::span<std::byte> bytes) override {
    ++reads;
    if (address < kStart || address + bytes.size() > kStart + pages * kPage) return false;
    for (std::byte& byte : bytes) byte = value;
    return true;
  }
  size_t ReadEach(std::span<const Piece> pieces) override {
    asked_at_once.push_back(pieces.size());
    return ProcessMemory::ReadEach(pieces);
  }

  uint64_t pages = 2;
  std::byte value{1};
  int reads = 0;
  std::vector<size_t> asked_at_once;
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

TEST_F(PagedMemoryTest, MorePagesThanThereArePlacesTakeTurns) {
  memory_.pages = 1000;
  for (int round = 0; round < 2; ++round) {
    for (uint64_t page = 0; page < memory_.pages; ++page) {
      EXPECT_EQ(paged_.Value<uint8_t>(kStart + page * kPage), 1);
    }
  }
}

TEST_F(PagedMemoryTest, ThirtyTwoPagesThatAreAskedForInTurnsAreReadAboutOnceEach) {
  memory_.pages = 32;
  for (int round = 0; round < 100; ++round) {
    for (uint64_t page = 0; page < memory_.pages; ++page) {
      EXPECT_EQ(paged_.Value<uint8_t>(kStart + page * kPage), 1);
    }
  }
  EXPECT_EQ(memory_.reads, 32);
}

TEST_F(PagedMemoryTest, WhatWasAskedForIsReadAgainAtOnce) {
  EXPECT_EQ(paged_.Value<uint8_t>(kStart), 1);
  EXPECT_EQ(paged_.Value<uint8_t>(kStart + kPage), 1);
  memory_.value = std::byte{2};
  paged_.Refresh();
  EXPECT_EQ(memory_.reads, 2);
  EXPECT_EQ(paged_.Value<uint8_t>(kStart + kPage), 2);
  EXPECT_EQ(memory_.asked_at_once, std::vector<size_t>{2});
  EXPECT_EQ(paged_.Value<uint8_t>(kStart), 2);
  EXPECT_EQ(memory_.reads, 4);
}

TEST_F(PagedMemoryTest, WhatNobodyAskedForLastTimeIsNotReadAgain) {
  EXPECT_EQ(paged_.Value<uint8_t>(kStart), 1);
  EXPECT_EQ(paged_.Value<uint8_t>(kStart + kPage), 1);
  paged_.Refresh();
  EXPECT_EQ(paged_.Value<uint8_t>(kStart), 1);
  paged_.Refresh();
  EXPECT_EQ(paged_.Value<uint8_t>(kStart), 1);
  EXPECT_EQ(memory_.asked_at_once, (std::vector<size_t>{2, 1}));
}

TEST_F(PagedMemoryTest, APageThatIsNotThereAnyMoreIsNotReadAgain) {
  EXPECT_EQ(paged_.Value<uint8_t>(kStart), 1);
  EXPECT_EQ(paged_.Value<uint8_t>(kStart + kPage), 1);
  memory_.pages = 1;
  paged_.Refresh();
  EXPECT_EQ(paged_.Value<uint8_t>(kStart), 1);
  EXPECT_FALSE(paged_.Value<uint8_t>(kStart + kPage).has_value());
  memory_.pages = 2;
  EXPECT_EQ(paged_.Value<uint8_t>(kStart + kPage), 1);
}

TEST_F(PagedMemoryTest, WhatIsForgottenIsReadAgainOnlyWhereItIsAskedFor) {
  EXPECT_EQ(paged_.Value<uint8_t>(kStart), 1);
  EXPECT_EQ(paged_.Value<uint8_t>(kStart + kPage), 1);
  paged_.Forget();
  EXPECT_EQ(paged_.Value<uint8_t>(kStart), 1);
  EXPECT_EQ(memory_.reads, 3);
  EXPECT_TRUE(memory_.asked_at_once.empty());
}

TEST_F(PagedMemoryTest, WhatIsLargerThanAPageIsReadAsItIs) {
  std::vector<std::byte> bytes(2 * kPage);
  EXPECT_TRUE(paged_.Read(kStart, bytes));
  EXPECT_EQ(bytes.back(), std::byte{1});
  EXPECT_EQ(memory_.reads, 1);
}

}  // namespace
}  // namespace profiler::symbolize
