#include "src/record/ring_size.h"

#include <linux/capability.h>

#include "gtest/gtest.h"

namespace profiler::record {
namespace {

constexpr uint64_t kMayLock = 1ull << CAP_IPC_LOCK;
constexpr size_t kPage = 4096;

TEST(RingSizeTest, HoldsFiftyMillisecondsOfStackBytesWhereMemoryMayBeLocked) {
  EXPECT_EQ(DefaultRing({}, kMayLock, kPage).pages * kPage, 4u << 20);
  EXPECT_EQ(DefaultRing({}, kMayLock, kPage, 200 << 20).pages * kPage, 16u << 20);
  EXPECT_EQ(DefaultRing({}, kMayLock, kPage, uint64_t{8} << 30).pages * kPage, 64u << 20);
}

TEST(RingSizeTest, CopiesAsMuchStackAsFitsIntoARecordWhileThatNeedsSmallRings) {
  EXPECT_EQ(DefaultStackBytes({}, kMayLock, 999), kMostStackBytes);
  EXPECT_EQ(DefaultStackBytes({}, kMayLock, 10'000), kModestStackBytes);
  EXPECT_EQ(DefaultStackBytes({.paranoid = -1}, 0, 999), kMostStackBytes);
  const uint64_t highest = 5000;
  EXPECT_EQ(DefaultStackBytes({}, kMayLock, highest), kMostStackBytes);
  EXPECT_LE(DefaultRing({}, kMayLock, kPage, highest * (kMostStackBytes + 512)).pages * kPage,
            16u << 20);
}

TEST(RingSizeTest, CopiesLessWhereLittleMemoryMayBeLocked) {
  EXPECT_EQ(DefaultStackBytes({.paranoid = 2}, 0, 999), kModestStackBytes);
}

}  // namespace
}  // namespace profiler::record
