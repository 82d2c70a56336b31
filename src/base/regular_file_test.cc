#include "src/base/regular_file.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "src/base/testing/refused_call.h"

namespace profiler {
namespace {

namespace fs = std::filesystem;

// A counter of how often a file is opened, by any process.
class OpenCount {
 public:
  explicit OpenCount(const std::string& path) : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    EXPECT_GE(inotify_add_watch(fd_.get(), path.c_str(), IN_OPEN), 0) << path;
  }
  int Take() const {
    int count = 0;
    alignas(inotify_event) std::array<char, sizeof(inotify_event)> event;
    while (read(fd_.get(), event.data(), event.size()) > 0) ++count;
    return count;
  }

 private:
  UniqueFd fd_;
};

class RegularFileTest : public testing::Test {
 protected:
  RegularFileTest() {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }

  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name)) << text;
  }
  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  static std::string Text(const absl::StatusOr<UniqueFd>& file) {
    if (!file.ok()) return std::string(absl::StatusCodeToString(file.status().code()));
    std::array<char, 64> text;
    const ssize_t size = read(file->get(), text.data(), text.size());
    return size < 0 ? "unreadable" : std::string(text.data(), static_cast<size_t>(size));
  }

  // Creates a container at "root" with a file "secret". Its links lead to this file and to another
  // "secret" outside the container.
  void MakeContainer() const {
    Write("root/secret", "theirs");
    Write("secret", "ours");
    fs::create_symlink("/secret", Path("root/absolute"));
    fs::create_symlink("../../../secret", Path("root/up"));
    fs::create_symlink(Path("secret"), Path("root/out"));
  }

  const std::string directory_ =
      testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(RegularFileTest, IsOpenedForReadingAndClosedByExec) {
  Write("file", "text");
  const auto file = OpenRegularFile(Path("file"));
  EXPECT_EQ(Text(file), "text");
  EXPECT_NE(fcntl(file->get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(fcntl(file->get(), F_GETFL) & O_PATH, 0);
}

TEST_F(RegularFileTest, LinksAreFollowed) {
  Write("file", "text");
  fs::create_symlink("file", Path("link"));
  EXPECT_EQ(Text(OpenRegularFile(Path("link"))), "text");
}

TEST_F(RegularFileTest, WhatIsNoneIsRefused) {
  EXPECT_EQ(Text(OpenRegularFile(directory_)), "INVALID_ARGUMENT");
  EXPECT_EQ(Text(OpenRegularFile("/dev/zero")), "INVALID_ARGUMENT");
  EXPECT_EQ(Text(OpenRegularFile(Path("none"))), "NOT_FOUND");
}

TEST_F(RegularFileTest, AFifoIsNotEvenOpened) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  const OpenCount opened(Path("fifo"));
  UniqueFd(open(Path("fifo").c_str(), O_PATH | O_CLOEXEC)).Reset();
  if (opened.Take() != 0) GTEST_SKIP() << "this kernel counts O_PATH as opening";
  EXPECT_EQ(Text(OpenRegularFile(Path("fifo"))), "INVALID_ARGUMENT");
  EXPECT_EQ(opened.Take(), 0);
  UniqueFd(open(Path("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)).Reset();
  EXPECT_EQ(opened.Take(), 1) << "it would be seen";
}

TEST_F(RegularFileTest, LinksStayBelowTheRoot) {
  MakeContainer();
  const std::string root = Path("root");
  EXPECT_EQ(Text(OpenRegularFile(root + "/secret", root)), "theirs");
  EXPECT_EQ(Text(OpenRegularFile(root + "/absolute", root)), "theirs");
  EXPECT_EQ(Text(OpenRegularFile(root + "/up", root)), "theirs");
  EXPECT_EQ(Text(OpenRegularFile(root + "/out", root)), "NOT_FOUND");
  EXPECT_EQ(Text(OpenRegularFile(root + "/../secret", root)), "theirs");
}

TEST_F(RegularFileTest, APathThatIsNotBelowTheRootIsOneOfOurs) {
  MakeContainer();
  Write("root2/file", "text");
  EXPECT_EQ(Text(OpenRegularFile(Path("secret"), Path("root"))), "ours");
  EXPECT_EQ(Text(OpenRegularFile(Path("root2/file"), Path("root"))), "text");
}

// Simulates a container whose system call filter is older than openat2(2).
TEST_F(RegularFileTest, WithoutOpenat2FilesAreFoundAsBeforeAndDevicesRefused) {
  MakeContainer();
  fs::create_symlink("/dev/zero", Path("root/device"));
  for (const uint32_t error : {ENOSYS, EPERM}) {
    const auto child = [&] {
      if (!RefuseSystemCall(SYS_openat2, error)) _exit(2);
      const std::string root = Path("root");
      const bool is_found = Text(OpenRegularFile(root + "/secret", root)) == "theirs";
      const std::string device = Text(OpenRegularFile(root + "/device", root));
      _exit(is_found && device == "INVALID_ARGUMENT" ? 0 : 1);
    };
    EXPECT_EXIT(
        child(),
        [](int status) {
          return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
        },
        "");
  }
}

TEST_F(RegularFileTest, InADirectoryNoLinkIsFollowed) {
  Write("file", "text");
  fs::create_symlink("file", Path("link"));
  const UniqueFd directory(open(directory_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(Text(OpenRegularFileIn(directory.get(), "file")), "text");
  EXPECT_EQ(Text(OpenRegularFileIn(directory.get(), "link")), "INVALID_ARGUMENT");
  EXPECT_EQ(Text(OpenRegularFileIn(directory.get(), "none")), "NOT_FOUND");
}

TEST(IsUserOrRoot, WhoBecameRootBySudoIsTheUserToo) {
  constexpr uid_t kSomebody = 4711;
  ASSERT_EQ(setenv("SUDO_UID", "4711", 1), 0);
  EXPECT_EQ(IsUserOrRoot(kSomebody), geteuid() == 0);
  EXPECT_FALSE(IsUserOrRoot(kSomebody + 1));
  for (const char* nobody : {"", "x", "-1", "99999999999"}) {
    ASSERT_EQ(setenv("SUDO_UID", nobody, 1), 0);
    EXPECT_FALSE(IsUserOrRoot(kSomebody)) << nobody;
  }
  unsetenv("SUDO_UID");
  EXPECT_FALSE(IsUserOrRoot(kSomebody));
  EXPECT_TRUE(IsUserOrRoot(0));
  EXPECT_TRUE(IsUserOrRoot(geteuid()));
}

}  // namespace
}  // namespace profiler
