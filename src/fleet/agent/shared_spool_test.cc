#include "src/fleet/agent/shared_spool.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "src/fleet/segments/testing/window_text.h"

namespace profiler::agent {
namespace {

class SharedSpoolTest : public testing::Test {
 protected:
  SharedSpoolTest()
      : path_(testing::TempDir() + "/" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(path_);
  }

  static fleet::Window At(int64_t second) {
    fleet::WindowBuilder builder = fleet::WebAndDatabase();
    builder.window().begin = second * 1'000'000'000;
    return std::move(builder).Finish();
  }

  // A spool for two segments.
  SharedSpool Open(size_t destinations) {
    const uint64_t bytes = fleet::EncodeSegment(At(1)).size();
    auto spool = fleet::SegmentSpool::Open(path_, {.bytes = 2 * bytes + bytes / 2});
    EXPECT_TRUE(spool.ok()) << spool.status();
    return {*std::move(spool), destinations};
  }
  std::vector<fleet::SegmentFile> Files() const {
    return *fleet::SegmentDirectory::Open(path_)->List(INT64_MIN, INT64_MAX);
  }
  static uint64_t DroppedOf(const SharedSpool& spool) {
    AgentMetrics metrics;
    spool.Describe(metrics);
    return metrics.dropped_segments;
  }

  const std::string path_;
};

TEST_F(SharedSpoolTest, WhatAllServersHaveIsNoLossWhenItGoes) {
  SharedSpool spool = Open(2);
  ASSERT_TRUE(spool.Add(At(1)).ok());
  ASSERT_TRUE(spool.Add(At(2)).ok());
  const auto files = Files();
  spool.Delivered(files[0]);
  spool.Delivered(files[0]);
  spool.Delivered(files[1]);
  ASSERT_TRUE(spool.Add(At(3)).ok());
  EXPECT_EQ(DroppedOf(spool), 0u);
  ASSERT_TRUE(spool.Add(At(4)).ok());
  EXPECT_EQ(DroppedOf(spool), 1u);
}

TEST_F(SharedSpoolTest, WhatTheOnlyServerRefusesIsSetAside) {
  SharedSpool spool = Open(1);
  ASSERT_TRUE(spool.Add(At(1)).ok());
  const auto file = Files().front();
  ASSERT_TRUE(spool.Refused(file).ok());
  EXPECT_TRUE(Files().empty());
  EXPECT_TRUE(std::filesystem::exists(path_ + "/refused/" + file.name));
}

TEST_F(SharedSpoolTest, WhatOneOfSeveralRefusesStaysForTheOthers) {
  SharedSpool spool = Open(2);
  ASSERT_TRUE(spool.Add(At(1)).ok());
  ASSERT_TRUE(spool.Refused(Files().front()).ok());
  EXPECT_EQ(Files().size(), 1u);
}

TEST_F(SharedSpoolTest, TellsWhatIsThere) {
  SharedSpool spool = Open(0);
  ASSERT_TRUE(spool.Add(At(1)).ok());
  AgentMetrics metrics;
  spool.Describe(metrics);
  EXPECT_EQ(metrics.segments, 1u);
  EXPECT_EQ(metrics.spool_bytes, fleet::EncodeSegment(At(1)).size());
}

}  // namespace
}  // namespace profiler::agent
