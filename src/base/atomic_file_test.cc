#include "src/base/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace profiler {
namespace {

namespace fs = std::filesystem;
using testing::UnorderedElementsAre;

class AtomicFileTest : public testing::Test {
 protected:
  AtomicFileTest()
      : folder_(testing::TempDir() + "/" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  void Write(const std::string& name, std::string_view text) const {
    std::ofstream(Path(name)) << text;
  }
  std::string Read(const std::string& name) const {
    std::ifstream in(Path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }

  AtomicFile Written(const std::string& name, std::string_view text) const {
    auto file = AtomicFile::Create(Path(name));
    EXPECT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(write(file->fd(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    return *std::move(file);
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  const std::string folder_;
};

TEST_F(AtomicFileTest, IsThereOnceItIsWhole) {
  Write("file", "old");
  AtomicFile file = Written("file", "new");
  EXPECT_EQ(Read("file"), "old");
  ASSERT_TRUE(file.Commit({}).ok());
  EXPECT_EQ(Read("file"), "new");
  EXPECT_THAT(Names(), UnorderedElementsAre("file"));
}

TEST_F(AtomicFileTest, WithoutCommitNothingHasHappened) {
  Write("file", "old");
  { const AtomicFile file = Written("file", "half of the n"); }
  EXPECT_EQ(Read("file"), "old");
  EXPECT_THAT(Names(), UnorderedElementsAre("file"));
}

TEST_F(AtomicFileTest, KeepsTheOldFileUnderAnotherName) {
  Write("file", "old");
  Write("file.old", "older");
  ASSERT_TRUE(Written("file", "new").Commit({.keep_old_as = Path("file.old")}).ok());
  EXPECT_EQ(Read("file"), "new");
  EXPECT_EQ(Read("file.old"), "old");
  EXPECT_THAT(Names(), UnorderedElementsAre("file", "file.old"));
  // With two names of one file, rename(2) does nothing.
  fs::remove(Path("file.old"));
  fs::create_hard_link(Path("file"), Path("file.old"));
  ASSERT_TRUE(Written("file", "newer").Commit({.keep_old_as = Path("file.old")}).ok());
  EXPECT_EQ(Read("file"), "newer");
  EXPECT_EQ(Read("file.old"), "new");
  EXPECT_THAT(Names(), UnorderedElementsAre("file", "file.old"));
}

TEST_F(AtomicFileTest, WhereThereIsNoOldFileNoneIsKept) {
  ASSERT_TRUE(Written("file", "new").Commit({.keep_old_as = Path("file.old")}).ok());
  EXPECT_THAT(Names(), UnorderedElementsAre("file"));
}

TEST_F(AtomicFileTest, WhenItCannotTakeItsPlaceTheOldFileStays) {
  Write("file", "old");
  AtomicFile file = Written("file", "new");
  fs::remove(Path("file"));
  fs::create_directories(Path("file/in the way"));
  EXPECT_FALSE(file.Commit({}).ok());
  { const AtomicFile gone = std::move(file); }
  EXPECT_THAT(Names(), UnorderedElementsAre("file"));
}

TEST_F(AtomicFileTest, WhenTheOldFileCannotBeKeptItStays) {
  Write("file", "old");
  fs::create_directories(Path("file.old/in the way"));
  {
    AtomicFile file = Written("file", "new");
    EXPECT_FALSE(file.Commit({.keep_old_as = Path("file.old")}).ok());
  }
  EXPECT_EQ(Read("file"), "old");
  EXPECT_THAT(Names(), UnorderedElementsAre("file", "file.old"));
}

TEST_F(AtomicFileTest, SetIdBitsOfTheOldFileAreNotKept) {
  Write("file", "old");
  ASSERT_EQ(chmod(Path("file").c_str(), 06755), 0);
  ASSERT_TRUE(Written("file", "new").Commit({}).ok());
  struct stat status;
  ASSERT_EQ(stat(Path("file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0755U);
}

TEST_F(AtomicFileTest, SeveralMayBeUnderWayAtOnce) {
  AtomicFile one = Written("file", "one");
  AtomicFile two = Written("file", "two");
  ASSERT_TRUE(two.Commit({}).ok());
  ASSERT_TRUE(one.Commit({}).ok());
  EXPECT_EQ(Read("file"), "one");
}

TEST_F(AtomicFileTest, SaysWhereNoFileCanBe) {
  const auto nowhere = AtomicFile::Create(Path("no/such/file"));
  EXPECT_EQ(ErrnoOf(nowhere.status()), ENOENT);
  EXPECT_NE(nowhere.status().message().find(Path("no/such/file")), std::string::npos);
}

TEST_F(AtomicFileTest, ReplacesRegularFilesAlone) {
  Write("file", "x");
  fs::create_symlink("file", Path("link"));
  fs::create_symlink("nothing", Path("dangling"));
  fs::create_symlink("circle", Path("circle"));
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  for (const char* name : {"file", "link", "dangling", "nothing"}) {
    EXPECT_TRUE(AtomicFile::CanReplace(Path(name))) << name;
  }
  const UniqueFd open_file(open(Path("file").c_str(), O_RDONLY | O_CLOEXEC));
  const std::string number = std::to_string(open_file.get());
  for (const std::string& path : {Path("circle"), Path("fifo"), folder_, std::string("/dev/null"),
                                  "/dev/fd/" + number, "/proc/self/fd/" + number}) {
    EXPECT_FALSE(AtomicFile::CanReplace(path)) << path;
    EXPECT_TRUE(absl::IsInvalidArgument(AtomicFile::Create(path).status())) << path;
  }
}

class EndingSignal : public AtomicFileTest, public testing::WithParamInterface<int> {};

TEST_P(EndingSignal, TakesTheTemporaryFileAway) {
  Write("file", "old");
  EXPECT_EXIT(
      {
        const AtomicFile file = Written("file", "half of the n");
        if (Names().size() == 2) raise(GetParam());
        _exit(0);
      },
      testing::KilledBySignal(GetParam()), "");
  EXPECT_EQ(Read("file"), "old");
  EXPECT_THAT(Names(), UnorderedElementsAre("file"));
}

TEST_P(EndingSignal, IsWhatItWasWhenNoFileIsUnderWay) {
  EXPECT_EXIT(
      {
        (void)Written("file", "new").Commit({});
        raise(GetParam());
        _exit(0);
      },
      testing::KilledBySignal(GetParam()), "");
  EXPECT_EQ(Read("file"), "new");
}

TEST_P(EndingSignal, StaysIgnoredWhereItIs) {
  EXPECT_EXIT(
      {
        signal(GetParam(), SIG_IGN);
        AtomicFile file = Written("file", "new");
        raise(GetParam());
        _exit(file.Commit({}).ok() ? 7 : 0);
      },
      testing::ExitedWithCode(7), "");
  EXPECT_EQ(Read("file"), "new");
}

INSTANTIATE_TEST_SUITE_P(All, EndingSignal, testing::Values(SIGINT, SIGTERM, SIGHUP));

}  // namespace
}  // namespace profiler
