#include "src/cli/terminal/redirect_file.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::cli {
namespace {

namespace fs = std::filesystem;

mode_t ModeOf(const fs::path& path) {
  struct stat status = {};
  stat(path.c_str(), &status);
  return status.st_mode & 07777;
}

class RedirectFileTest : public testing::Test {
 protected:
  RedirectFileTest() {
    fs::create_directory(directory_);
    unsetenv("XDG_RUNTIME_DIR");
    setenv("TMPDIR", directory_.c_str(), 1);
  }
  ~RedirectFileTest() override { fs::remove_all(directory_); }

  const fs::path directory_ = testing::TempDir() + "/redirect";
};

TEST_F(RedirectFileTest, LeadsToTheAddressAndIsItsUsersAlone) {
  const auto file = RedirectFile::Create("http://127.0.0.1:1/abc/");
  ASSERT_TRUE(file.ok()) << file.status();
  const fs::path path = (*file)->path();
  EXPECT_EQ((*file)->url(), "file://" + path.string());
  EXPECT_EQ(path.parent_path().parent_path(), directory_);
  EXPECT_EQ(ModeOf(path), 0600U);
  EXPECT_EQ(ModeOf(path.parent_path()), 0700U);
  std::ifstream in(path);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_THAT(text, testing::HasSubstr("content=\"0;url=http://127.0.0.1:1/abc/\""));
}

TEST_F(RedirectFileTest, GoesInTheEnd) {
  auto file = RedirectFile::Create("http://127.0.0.1:1/abc/");
  ASSERT_TRUE(file.ok()) << file.status();
  file->reset();
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(RedirectFileTest, LiesInTheUsersRuntimeDirectoryIfThereIsOne) {
  const fs::path runtime = directory_ / "runtime";
  fs::create_directory(runtime);
  fs::permissions(runtime, fs::perms::owner_all);
  setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
  const auto file = RedirectFile::Create("http://127.0.0.1:1/abc/");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(fs::path((*file)->path()).parent_path().parent_path(), runtime);
}

}  // namespace
}  // namespace profiler::cli
