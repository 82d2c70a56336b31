#include "src/base/own_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace profiler {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class OwnDirectoryTest : public testing::Test {
 protected:
  OwnDirectoryTest() {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  // Returns "ok" if the path leads to the directory `expected`.
  std::string Opened(const std::string& path, const std::string& expected,
                     IfMissing if_missing = IfMissing::kFail) const {
    const auto opened = OpenOwnDirectory(path, if_missing);
    if (!opened.ok()) return std::string(absl::StatusCodeToString(opened.status().code()));
    const std::string link = "/proc/self/fd/" + std::to_string(opened->get());
    return fs::equivalent(link, Path(expected)) ? "ok" : "another";
  }

  const std::string directory_ =
      testing::TempDir() + "/own." + testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(OwnDirectoryTest, IsMadeForTheUserAloneIfWanted) {
  EXPECT_EQ(Opened(Path("a/b"), "a/b"), "NOT_FOUND");
  EXPECT_EQ(Opened(Path("a/b"), "a/b", IfMissing::kMake), "ok");
  EXPECT_EQ(fs::status(Path("a/b")).permissions(), fs::perms::owner_all);
  EXPECT_EQ(Opened(Path("a/b"), "a/b", IfMissing::kMake), "ok");
  EXPECT_EQ(Opened(Path("a//b/../b/."), "a/b"), "ok");
}

TEST_F(OwnDirectoryTest, LinksOfTheUserAreFollowed) {
  fs::create_directories(Path("real/inner"));
  fs::create_symlink("real", Path("relative"));
  fs::create_symlink(Path("relative"), Path("absolute"));
  EXPECT_EQ(Opened(Path("relative/inner"), "real/inner"), "ok");
  EXPECT_EQ(Opened(Path("absolute/inner"), "real/inner"), "ok");
  EXPECT_EQ(Opened(Path("absolute"), "real"), "ok");
  fs::create_symlink("circle", Path("circle"));
  EXPECT_NE(Opened(Path("circle"), ""), "ok");
}

TEST_F(OwnDirectoryTest, LinksOfAnotherUserAreNot) {
  fs::create_directories(Path("real/inner"));
  fs::create_symlink("real", Path("link"));
  if (lchown(Path("link").c_str(), kNobody, kNobody) != 0) {
    GTEST_SKIP() << "only root can make another user's link";
  }
  EXPECT_EQ(Opened(Path("link"), "real"), "PERMISSION_DENIED");
  EXPECT_EQ(Opened(Path("link/inner"), "real/inner"), "PERMISSION_DENIED");
}

TEST_F(OwnDirectoryTest, IsNotAnotherUsersNorEverybodys) {
  fs::create_directories(Path("shared"));
  ASSERT_EQ(chmod(Path("shared").c_str(), 0777), 0);
  EXPECT_EQ(Opened(Path("shared"), "shared"), "PERMISSION_DENIED");
  EXPECT_EQ(Opened("/", ""), geteuid() == 0 ? "another" : "PERMISSION_DENIED");
}

TEST_F(OwnDirectoryTest, IsNoFile) {
  ASSERT_EQ(mknod(Path("file").c_str(), S_IFREG | 0600, 0), 0);
  EXPECT_NE(Opened(Path("file"), "file"), "ok");
  EXPECT_NE(Opened(Path("file/inner"), "file", IfMissing::kMake), "ok");
}

}  // namespace
}  // namespace profiler
