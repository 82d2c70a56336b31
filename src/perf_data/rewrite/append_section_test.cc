#include "src/perf_data/rewrite/append_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <string>
#include <vector>

#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/read/recording.h"
#include "src/perf_data/recording_builder.h"
#include "src/perf_data/rewrite/rewrite.h"

namespace profiler::perf_data {
namespace {

using testing::HasSubstr;
using Order = Recording::Order;

std::string UsualRecording(std::string_view name) {
  std::string path = TestPath(name);
  WriteUsualRecording(path);
  return path;
}

Features FeaturesOf(const std::string& path) {
  const auto recording = Recording::Open(path);
  EXPECT_TRUE(recording.ok()) << recording.status();
  return recording.ok() ? (*recording)->features() : Features();
}

TEST(AppendSection, AddsToWhatIsThere) {
  const std::string path = UsualRecording("usual.data");
  Features expected = FeaturesOf(path);
  expected.other[kFeatureNames] = "who is who";
  const std::string told = ToldFile(path, Order::kTime);

  ASSERT_TRUE(AppendSection(path, kFeatureNames, "who is who").ok());
  EXPECT_EQ(FeaturesOf(path), expected);
  EXPECT_EQ(ToldFile(path, Order::kTime), told);
}

TEST(AppendSection, IsCopiedByteForByte) {
  const std::string path = UsualRecording("usual.data");
  ASSERT_TRUE(AppendSection(path, kFeatureNames, "who is who").ok());
  const std::string copy = TestPath("copy.data");
  ASSERT_TRUE(Rewrite(path, copy, {}).ok());
  EXPECT_TRUE(ReadFile(path) == ReadFile(copy));
}

// Whatever of the three writes came last, the recording is the one before or the one after.
TEST(AppendSection, IsThereWholeOrNotAtAll) {
  const std::string path = UsualRecording("usual.data");
  const std::vector<std::byte> before = ReadFile(path);
  const Features without = FeaturesOf(path);
  ASSERT_TRUE(AppendSection(path, kFeatureNames, "who is who").ok());
  const std::vector<std::byte> after = ReadFile(path);
  const std::string killed = TestPath("killed.data");

  std::vector<std::byte> half = before;
  half.insert(half.end(), after.begin() + static_cast<ptrdiff_t>(before.size()), after.end() - 3);
  WriteFile(killed, half);
  EXPECT_EQ(FeaturesOf(killed), without) << "within the section";

  half = after;
  std::copy(before.begin(), before.begin() + kFileHeaderSize, half.begin());
  WriteFile(killed, half);
  EXPECT_EQ(FeaturesOf(killed), without) << "before the header";
}

TEST(AppendSection, OnAFullDiskLeavesTheRecordingAsItWas) {
  const std::string path = UsualRecording("usual.data");
  const std::vector<std::byte> before = ReadFile(path);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  rlimit full = old;
  full.rlim_cur = before.size() + 5;
  setrlimit(RLIMIT_FSIZE, &full);
  const absl::Status status = AppendSection(path, kFeatureNames, "who is who");
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(ReadFile(path) == before);
}

TEST(AppendSection, GoesOnceIntoRecordingsOfOurs) {
  const std::string path = UsualRecording("usual.data");
  ASSERT_TRUE(AppendSection(path, kFeatureNames, "who is who").ok());
  const std::vector<std::byte> before = ReadFile(path);
  EXPECT_TRUE(absl::IsFailedPrecondition(AppendSection(path, kFeatureNames, "again")));
  EXPECT_TRUE(absl::IsFailedPrecondition(AppendSection(path, kFeatureChainQuality, "lower")));
  EXPECT_TRUE(ReadFile(path) == before);

  const std::string stream = TestPath("stream.data");
  ASSERT_TRUE(Rewrite(path, stream, {.as_stream = true}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(AppendSection(stream, kFeatureNames, "x")));
  EXPECT_FALSE(AppendSection(TestPath("missing"), kFeatureNames, "x").ok());
}

}  // namespace
}  // namespace profiler::perf_data
