#include "src/cli/config/config_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace profiler::config {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 12345;

class ConfigFileTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(home_);
    fs::create_directories(home_ / ".config/profiler");
  }

  void Write(const std::string& text, mode_t mode = 0644) {
    std::ofstream(file_) << text;
    ASSERT_EQ(chmod(file_.c_str(), mode), 0);
  }

  // Gives a file or directory to another user, which only root can.
  static bool GiveAway(const fs::path& path) {
    return lchown(path.c_str(), kStranger, kStranger) == 0;
  }

  absl::StatusOr<ConfigFile> Read() const {
    return ReadConfigFile([this](const char* name) {
      const auto found = environment_.find(name);
      return found == environment_.end() ? "" : found->second;
    });
  }

  std::string Error() const { return std::string(Read().status().message()); }

  const fs::path home_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  const fs::path file_ = home_ / ".config/profiler/config";
  std::map<std::string, std::string> environment_ = {{"HOME", home_.string()}};
};

TEST_F(ConfigFileTest, IsReadBelowTheHomeDirectory) {
  Write("[report]\nchildren = false\n");
  const auto file = Read();
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->path, file_.string());
  EXPECT_EQ(file->settings, (std::vector<Setting>{{"report.children", "false", 2}}));
}

TEST_F(ConfigFileTest, IsReadBelowXdgConfigHomeInstead) {
  fs::create_directories(home_ / "other/profiler");
  std::ofstream(home_ / "other/profiler/config") << "[top]\ndelay = 1\n";
  Write("[report]\nchildren = false\n");
  environment_["XDG_CONFIG_HOME"] = (home_ / "other").string();
  EXPECT_EQ(Read()->settings, (std::vector<Setting>{{"top.delay", "1", 2}}));
}

TEST_F(ConfigFileTest, MayBeMissing) {
  EXPECT_TRUE(Read()->settings.empty());
  environment_.clear();
  EXPECT_EQ(Read()->path, "");
  environment_["HOME"] = "/nonexistent";
  EXPECT_TRUE(Read()->settings.empty());
}

TEST_F(ConfigFileTest, MayBeALinkOfTheUser) {
  std::ofstream(home_ / "dotfile") << "[a]\nb = 1\n";
  fs::create_symlink(home_ / "dotfile", file_);
  EXPECT_EQ(Read()->settings.size(), 1u);
}

TEST_F(ConfigFileTest, IsNamedWithItsMalformedLine) {
  Write("[report]\nchildren\n[top\n");
  EXPECT_EQ(Error(), file_.string() + ":3: the section [top is not closed by ]");
}

TEST_F(ConfigFileTest, MustNotBeWritableByOthers) {
  Write("[a]\nb = 1\n", 0666);
  EXPECT_EQ(Error(),
            file_.string() + ": other users may write the file; mend that, or pass --no-config");
}

TEST_F(ConfigFileTest, MustBeARegularFile) {
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  EXPECT_EQ(Error(), file_.string() + ": not a regular file; mend that, or pass --no-config");
}

TEST_F(ConfigFileTest, MustNotBelongToAnotherUser) {
  Write("[a]\nb = 1\n");
  if (!GiveAway(file_)) GTEST_SKIP() << "only root can give files away";
  EXPECT_EQ(Error(),
            file_.string() + ": the file belongs to another user; mend that, or pass --no-config");
}

// As under sudo, which may keep the caller's $HOME.
TEST_F(ConfigFileTest, IsIgnoredInTheHomeDirectoryOfAnotherUser) {
  Write("[malformed\n");
  if (!GiveAway(home_)) GTEST_SKIP() << "only root can give directories away";
  const auto file = Read();
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->ignored, home_.string() + " belongs to another user");
  EXPECT_TRUE(file->settings.empty());
}

TEST_F(ConfigFileTest, IsIgnoredInADirectoryOfAnotherUser) {
  Write("[a]\nb = 1\n");
  if (!GiveAway(home_ / ".config/profiler")) GTEST_SKIP() << "only root can give directories away";
  EXPECT_EQ(Read()->ignored, (home_ / ".config/profiler").string() + " belongs to another user");
}

}  // namespace
}  // namespace profiler::config
