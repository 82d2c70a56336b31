#include "src/fleet/segments/segment_directory.h"

#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/fleet/segments/testing/window_text.h"

namespace profiler::fleet {
namespace {

namespace fs = std::filesystem;

constexpr UnixTime kSecond = 1'000'000'000;

Window WindowAt(UnixTime begin, const std::string& host = "h1") {
  Window window = WebAndDatabase().Finish();
  window.begin = begin;
  window.host = host;
  return window;
}

class SpoolTest : public testing::Test {
 protected:
  SpoolTest() { fs::remove_all(path_); }

  SegmentSpool Open(uint64_t bytes = uint64_t{1} << 30) {
    auto spool = SegmentSpool::Open(path_, {.bytes = bytes});
    EXPECT_TRUE(spool.ok()) << spool.status();
    return *std::move(spool);
  }

  // Returns the begins of the segments, in seconds.
  static std::string BeginsIn(const SegmentDirectory& directory) {
    std::string text;
    const auto files = directory.List(INT64_MIN, INT64_MAX);
    EXPECT_TRUE(files.ok()) << files.status();
    for (const SegmentFile& file : *files) absl::StrAppend(&text, file.begin / kSecond, " ");
    return text;
  }

  const std::string path_ = testing::TempDir() + "/spool";
  const uint64_t size_ = EncodeSegment(WindowAt(kSecond)).size();
};

TEST_F(SpoolTest, GivesBackWhatWasAddedInTheOrderOfTime) {
  SegmentSpool spool = Open();
  for (const UnixTime second : {20, 10, 30}) {
    ASSERT_TRUE(spool.Add(WindowAt(second * kSecond)).ok());
  }
  EXPECT_EQ(BeginsIn(spool), "10 20 30 ");
  const auto some = spool.List(10 * kSecond, 30 * kSecond);
  ASSERT_TRUE(some.ok());
  ASSERT_EQ(some->size(), 2u);
  const auto window = spool.Read((*some)[1]);
  ASSERT_TRUE(window.ok()) << window.status();
  EXPECT_EQ(window->begin, 20 * kSecond);
  EXPECT_EQ(spool.ReadHead((*some)[0])->samples, 6u);
}

TEST_F(SpoolTest, HasAWindowThatIsWrittenTwiceOnce) {
  SegmentSpool spool = Open();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(spool.Add(WindowAt(kSecond)).ok());
  ASSERT_TRUE(spool.Add(WindowAt(kSecond, "h2")).ok());
  EXPECT_EQ(BeginsIn(spool), "1 1 ");
  EXPECT_EQ(spool.bytes(), 2 * size_);
}

TEST_F(SpoolTest, DropsTheOldestAndCountsThemWhereThereAreTooManyBytes) {
  SegmentSpool spool = Open(2 * size_ + size_ / 2);
  for (int second = 1; second <= 4; ++second) {
    ASSERT_TRUE(spool.Add(WindowAt(second * kSecond)).ok());
  }
  EXPECT_EQ(BeginsIn(spool), "3 4 ");
  EXPECT_EQ(spool.dropped().segments, 2u);
  EXPECT_EQ(spool.dropped().samples, 12u);
}

TEST_F(SpoolTest, CountsThoseAsNoLossThatMayGo) {
  SegmentSpool spool = Open(2 * size_ + size_ / 2);
  ASSERT_TRUE(spool.Add(WindowAt(1 * kSecond)).ok());
  ASSERT_TRUE(spool.Add(WindowAt(2 * kSecond)).ok());
  spool.MayGo(spool.List(0, 2 * kSecond)->front());
  ASSERT_TRUE(spool.Add(WindowAt(3 * kSecond)).ok());
  ASSERT_TRUE(spool.Add(WindowAt(4 * kSecond)).ok());
  EXPECT_EQ(BeginsIn(spool), "3 4 ");
  EXPECT_EQ(spool.dropped().segments, 1u);
}

TEST_F(SpoolTest, IsOpenedByOneProcessAtATime) {
  const SegmentSpool spool = Open();
  const auto second = SegmentSpool::Open(path_, {});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition) << second.status();
}

TEST_F(SpoolTest, KeepsWhatItHadAndRemovesWhatAKilledWriterLeftHalf) {
  { ASSERT_TRUE(Open().Add(WindowAt(kSecond)).ok()); }
  const std::string half = path_ + "/" + SegmentName("h1", 2 * kSecond) + ".new";
  std::ofstream(half) << "PROFSEG1";
  const SegmentSpool spool = Open();
  EXPECT_EQ(BeginsIn(spool), "1 ");
  EXPECT_FALSE(fs::exists(half));
  EXPECT_EQ(spool.bytes(), size_);
}

TEST_F(SpoolTest, PutsASegmentAsideThatIsRefused) {
  SegmentSpool spool = Open();
  ASSERT_TRUE(spool.Add(WindowAt(kSecond)).ok());
  const SegmentFile file = spool.List(0, INT64_MAX)->front();
  ASSERT_TRUE(spool.SetAside(file).ok());
  EXPECT_EQ(BeginsIn(spool), "");
  EXPECT_EQ(spool.bytes(), 0u);
  EXPECT_TRUE(fs::exists(path_ + "/refused/" + file.name));
}

TEST_F(SpoolTest, OfWhatIsRefusedTheOldestGo) {
  const auto begins_aside = [this] {
    const auto aside = SegmentDirectory::Open(path_ + "/refused");
    return aside.ok() ? BeginsIn(*aside) : "";
  };
  const auto refuse = [](SegmentSpool& spool, int second) {
    ASSERT_TRUE(spool.Add(WindowAt(second * kSecond)).ok());
    ASSERT_TRUE(spool.SetAside(spool.List(0, INT64_MAX)->front()).ok());
  };
  {
    SegmentSpool spool = Open(25 * size_);
    for (const int second : {1, 2, 3}) refuse(spool, second);
    EXPECT_EQ(begins_aside(), "2 3 ");
    EXPECT_EQ(spool.dropped().segments, 0u);
  }
  SegmentSpool again = Open(25 * size_);
  refuse(again, 4);
  EXPECT_EQ(begins_aside(), "3 4 ");
}

TEST_F(SpoolTest, SaysWhichSegmentIsDamaged) {
  SegmentSpool spool = Open();
  ASSERT_TRUE(spool.Add(WindowAt(kSecond)).ok());
  const SegmentFile file = spool.List(0, INT64_MAX)->front();
  fs::resize_file(path_ + "/" + file.name, size_ - 1);
  const auto read = spool.Read(file);
  EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(read.status().message()), testing::HasSubstr(file.name));
}

TEST_F(SpoolTest, DropsTheOldestWhereTheDiskIsFull) {
  // Mounts a disk of some pages in a mount namespace of this test.
  fs::create_directories(path_);
  if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_PRIVATE | MS_REC, "") != 0 ||
      mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=32k,mode=0700") != 0) {
    GTEST_SKIP() << "a disk that is full needs root";
  }
  {
    SegmentSpool spool = Open();
    // Each segment takes a page; the directory and the lock also need room.
    for (int second = 1; second <= 20; ++second) {
      ASSERT_TRUE(spool.Add(WindowAt(second * kSecond)).ok()) << second;
    }
    const uint64_t kept = spool.size();
    EXPECT_GE(kept, 4u);
    EXPECT_EQ(spool.dropped().segments, 20 - kept);
    EXPECT_TRUE(BeginsIn(spool).ends_with("19 20 ")) << BeginsIn(spool);
  }
  umount2(path_.c_str(), MNT_DETACH);
}

TEST(SegmentName, SaysWhenItBegan) {
  const std::string name = SegmentName("h1", 1'764'115'200'123'000'000);
  EXPECT_EQ(name.substr(0, 14), "1764115200123-");
  EXPECT_EQ(BeginOfSegment(name), 1'764'115'200'123'000'000);
  EXPECT_NE(name, SegmentName("h2", 1'764'115'200'123'000'000));
  for (const char* other : {"", "lock", "refused", "1764115200123-0123456789abcdef.new",
                            "x764115200123-0123456789abcdef.seg"}) {
    EXPECT_EQ(BeginOfSegment(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace profiler::fleet
