#include "src/base/shared_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace profiler {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class SharedDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "/shared-XXXXXX";
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    ASSERT_EQ(chmod(directory_.c_str(), 01777), 0);
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  std::string Write(const std::string& name) const {
    std::ofstream(Path(name)) << "text";
    return Path(name);
  }
  std::string Link(const std::string& to, const std::string& name) const {
    fs::create_symlink(to, Path(name));
    return Path(name);
  }
  static bool GiveTo(uid_t owner, const std::string& path) {
    if (lchown(path.c_str(), owner, owner) == 0) return true;
    [] { GTEST_SKIP() << "only root can give files to another user"; }();
    return false;
  }
  static bool MayBe(const std::string& path, FileOfOthers file = FileOfOthers::kReplaced) {
    const absl::Status status = CheckSharedName(path, file);
    EXPECT_TRUE(status.ok() || absl::IsFailedPrecondition(status)) << status;
    return status.ok();
  }

  std::string directory_;
};

TEST_F(SharedDirectoryTest, OwnFilesAndLinksMayBeWrittenTo) {
  EXPECT_TRUE(MayBe(Path("new")));
  EXPECT_TRUE(MayBe(Write("file")));
  EXPECT_TRUE(MayBe(Link("file", "link")));
  EXPECT_TRUE(MayBe(Link("circle", "circle")));
  EXPECT_TRUE(MayBe("/dev/null"));
  EXPECT_TRUE(MayBe("/proc/self/fd/1"));
}

TEST_F(SharedDirectoryTest, ALinkOfAnotherUserIsNotFollowed) {
  const std::string link = Link(Path("target"), "link");
  const std::string own = Link("link", "own");
  if (!GiveTo(kNobody, link)) return;
  EXPECT_FALSE(MayBe(link));
  EXPECT_FALSE(MayBe(link, FileOfOthers::kPutAside));
  EXPECT_FALSE(MayBe(own)) << "it leads to the other's";
  const std::string refused(CheckSharedName(link, FileOfOthers::kReplaced).message());
  EXPECT_TRUE(refused.starts_with("cannot write to " + link + ": /")) << refused;
  EXPECT_TRUE(
      refused.ends_with("/link is a link of another user (65534); remove it or write elsewhere"))
      << refused;
}

TEST_F(SharedDirectoryTest, AFileOfAnotherUserDoesNotGetWhatIsWritten) {
  const std::string file = Write("file");
  if (!GiveTo(kNobody, file)) return;
  EXPECT_FALSE(MayBe(file));
  EXPECT_TRUE(MayBe(file, FileOfOthers::kPutAside));
}

TEST_F(SharedDirectoryTest, InADirectoryOfItsOwnerAloneFilesAreHis) {
  const std::string file = Write("file");
  if (!GiveTo(kNobody, file) || !GiveTo(kNobody, directory_)) return;
  EXPECT_TRUE(MayBe(file)) << "it is the directory's owner's";
  ASSERT_EQ(chmod(directory_.c_str(), 0755), 0);
  EXPECT_TRUE(MayBe(file));
}

TEST_F(SharedDirectoryTest, InADirectoryOfAnotherUserHisLinksAreNotFollowed) {
  fs::create_directory(Path("real"));
  const std::string link = Link("real", "link"), last = Link("file", "last");
  if (!GiveTo(kNobody, link) || !GiveTo(kNobody, last) || !GiveTo(kNobody, directory_)) return;
  ASSERT_EQ(chmod(directory_.c_str(), 0755), 0);
  EXPECT_FALSE(MayBe(last));
  EXPECT_FALSE(MayBe(link + "/file")) << "a link on the way to the directory";
  EXPECT_TRUE(MayBe(Path("real/file")));
}

TEST_F(SharedDirectoryTest, AFileIsWrittenInPlaceIfItIsOurs) {
  const std::string own = Write("own"), others = Write("others");
  EXPECT_TRUE(OpenInPlace(own, O_WRONLY).ok());
  EXPECT_EQ(fs::file_size(own), 0U);
  EXPECT_FALSE(OpenInPlace(Path("none"), O_WRONLY).ok()) << "nothing is created";
  EXPECT_TRUE(OpenInPlace("/dev/null", O_WRONLY).ok());
  if (!GiveTo(kNobody, others)) return;
  EXPECT_FALSE(OpenInPlace(others, O_WRONLY).ok());
  EXPECT_EQ(fs::file_size(others), 4U);
}

}  // namespace
}  // namespace profiler
