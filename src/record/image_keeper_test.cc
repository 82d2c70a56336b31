#include "src/record/image_keeper.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "src/base/file_id.h"
#include "src/machine/procfs/build_id.h"
#include "symbolize/testing/test_files.h"

namespace profiler::record {
namespace {

namespace fs = std::filesystem;

// In these tests, processes are directories of a temporary tree in place of /proc. The tree also
// has their root directories.
class ImageKeeperTest : public testing::Test {
 protected:
  ImageKeeperTest() {
    fs::create_directories(proc() + "/self/ns");
    fs::create_symlink("/", proc() + "/self/root");
    Write(proc() + "/self/ns/mnt", "");
    Limit({.files = 100});
  }

  std::string proc() const { return directory_ + "/proc"; }
  static void Write(const std::string& path, const std::string& text) {
    symbolize::WriteFile(path, text);
  }
  void Limit(const ImageKeeper::Limits& limits) {
    keeper_.emplace(kept_, procfs::Roots{proc(), directory_ + "/sys"}, limits);
  }

  // Makes a process with its own root directory.
  std::string Process(uint32_t pid, const std::string& root) {
    const std::string process = proc() + "/" + std::to_string(pid);
    fs::create_directories(process + "/ns");
    fs::create_directories(directory_ + root);
    fs::create_symlink(directory_ + root, process + "/root");
    fs::create_symlink(proc() + "/self/ns/mnt", process + "/ns/mnt");
    return process;
  }
  void End(uint32_t pid) { fs::remove_all(proc() + "/" + std::to_string(pid)); }

  // Makes a program with a build-id, by copying the program of this test.
  std::string Program(const std::string& name) {
    const std::string path = directory_ + name;
    fs::create_directories(fs::path(path).parent_path());
    fs::copy_file("/proc/self/exe", path);
    return path;
  }

  void Map(uint32_t pid, const std::string& name) {
    const procfs::BuildId id = procfs::BuildIdOfFile("/proc/self/exe");
    keeper_->Take({.pid = pid, .build_id = id, .prot = PROT_READ | PROT_EXEC, .filename = name});
  }
  // Takes a mapping as a kernel without build-ids reports it.
  void MapFile(uint32_t pid, const std::string& name, const std::string& file) {
    struct stat status;
    ASSERT_EQ(stat(file.c_str(), &status), 0);
    keeper_->Take({.pid = pid,
                   .maj = major(status.st_dev),
                   .min = minor(status.st_dev),
                   .ino = status.st_ino,
                   .prot = PROT_EXEC,
                   .filename = name});
  }
  // Returns the file that was kept for the program of this test.
  std::optional<symbolize::KeptFiles::File> Kept() {
    return kept_->Find("", procfs::BuildIdOfFile("/proc/self/exe"));
  }

  const std::string directory_ = fs::canonical(symbolize::TestDirectory());
  const std::shared_ptr<symbolize::KeptFiles> kept_ = std::make_shared<symbolize::KeptFiles>();
  std::optional<ImageKeeper> keeper_;
};

TEST_F(ImageKeeperTest, AProgramIsFoundInTheRootDirectoryOfItsProcess) {
  Process(7, "/container");
  const std::string program = Program("/container/bin/program");
  Map(7, "/bin/program");
  ASSERT_TRUE(Kept().has_value());
  EXPECT_EQ(FileIdOf(Kept()->path), FileIdOf(program));
  EXPECT_EQ(FileIdOf(Kept()->root), FileIdOf(directory_ + "/container"));
}

TEST_F(ImageKeeperTest, AnotherBuildInOurOwnRootDirectoryIsLeftAlone) {
  Process(7, "/container");
  // Another file with the same name, in our own root directory.
  const std::string name = directory_ + "/both";
  Write(name, "no program");
  const std::string program = Program("/container" + name);
  Map(7, name);
  ASSERT_TRUE(Kept().has_value());
  EXPECT_EQ(FileIdOf(Kept()->path), FileIdOf(program));
}

TEST_F(ImageKeeperTest, AfterItsEndAProcessIsTakenToHaveHadARootDirectoryThatIsKnown) {
  Process(7, "/container");
  Write(directory_ + "/container/bin/sh", "another");
  Map(7, "/bin/sh");  // missing in the process's root directory, so nothing is kept
  End(7);
  const std::string program = Program("/container/bin/program");
  Map(8, "/bin/program");
  ASSERT_TRUE(Kept().has_value());
  EXPECT_EQ(FileIdOf(Kept()->path), FileIdOf(program));
}

TEST_F(ImageKeeperTest, AnImageThatNobodyFoundIsLookedForInTheNextRootDirectory) {
  Program("/container/bin/program");
  Map(7, "/bin/program");  // a process that has ended
  EXPECT_FALSE(Kept().has_value());
  Process(8, "/container");
  MapFile(8, "/bin/absent", "/proc/self/exe");
  EXPECT_TRUE(Kept().has_value());
}

TEST_F(ImageKeeperTest, HoweverManyEndedBeforeTheyWereMetOneThatLivesIsLookedAt) {
  Program("/container/bin/program");
  for (uint32_t pid = 100; pid < 106; ++pid) Map(pid, "/bin/program");  // processes that have ended
  EXPECT_FALSE(Kept().has_value());
  Process(106, "/container");
  Map(106, "/bin/program");
  EXPECT_TRUE(Kept().has_value());
}

TEST_F(ImageKeeperTest, ALinkInARootDirectoryLeadsNowhereElse) {
  Process(7, "/container");
  const std::string program = Program("/outside/program");
  fs::create_directories(directory_ + "/container/bin");
  fs::create_symlink(program, directory_ + "/container/bin/program");
  Map(7, "/bin/program");
  EXPECT_FALSE(Kept().has_value());
}

TEST_F(ImageKeeperTest, AProgramThatHasRemovedItselfIsStillToBeHad) {
  const std::string process = Process(7, "/container");
  const std::string program = Program("/program");
  fs::create_symlink(program, process + "/exe");
  Map(7, program);
  ASSERT_TRUE(Kept().has_value());
  EXPECT_EQ(Kept()->root, "");
  fs::remove(program);
  EXPECT_TRUE(FileIdOf(Kept()->path).has_value());
}

TEST_F(ImageKeeperTest, SoIsALibraryByWhereItIsMapped) {
  const std::string process = Process(7, "/container");
  fs::create_directories(process + "/map_files");
  // The link's name leads nowhere in the process's root directory.
  const std::string library = Program("/library (deleted)");
  fs::create_symlink(library, process + "/map_files/7f0012340000-7f0012345000");
  const procfs::BuildId id = procfs::BuildIdOfFile(library);
  const auto map = [&](uint64_t address) {
    keeper_->Take({.pid = 7,
                   .addr = address,
                   .len = 0x5000,
                   .build_id = id,
                   .prot = PROT_EXEC,
                   .filename = library});
  };
  map(0x7f0000000000);
  EXPECT_FALSE(Kept().has_value());
  map(0x7f0012340000);
  ASSERT_TRUE(Kept().has_value());
  EXPECT_EQ(FileIdOf(Kept()->path), FileIdOf(library));
}

TEST_F(ImageKeeperTest, WithoutBuildIdsAFileIsToldByItsDeviceAndInode) {
  Process(7, "/container");
  const std::string program = Program("/container/bin/program");
  const std::string other = Program("/container/bin/other");
  MapFile(7, "/bin/program", other);
  EXPECT_FALSE(kept_->Find("/bin/program", {}).has_value());
  MapFile(7, "/bin/program", program);
  const auto kept = kept_->Find("/bin/program", {});
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(FileIdOf(kept->path), FileIdOf(program));
}

TEST_F(ImageKeeperTest, NoMoreFilesAreKeptThanThereIsRoomFor) {
  Limit({.files = 1});
  const std::string one = Program("/one"), two = Program("/two");
  MapFile(7, one, one);
  MapFile(7, two, two);
  EXPECT_TRUE(kept_->Find(one, {}).has_value());
  EXPECT_FALSE(kept_->Find(two, {}).has_value());
}

TEST_F(ImageKeeperTest, OfFilesThatWereRemovedTheLastStayAsFarAsThereIsRoom) {
  const std::string first = Program("/first"), second = Program("/second");
  struct stat status;
  ASSERT_EQ(stat(first.c_str(), &status), 0);
  Limit({.files = 100, .deleted_bytes = static_cast<uint64_t>(status.st_blocks) * 512});
  MapFile(7, first, first);
  MapFile(7, second, second);
  const std::string stays = Program("/stays");
  MapFile(7, stays, stays);
  fs::remove(first);
  fs::remove(second);
  constexpr int kMany = 5000;
  for (int i = 0; i < kMany; ++i) MapFile(7, stays, stays);
  const auto is_regular = [&](const std::string& name) {
    const auto kept = kept_->Find(name, {});
    return kept && fs::is_regular_file(kept->path);
  };
  EXPECT_FALSE(is_regular(first));
  EXPECT_TRUE(is_regular(second));
  EXPECT_TRUE(is_regular(stays));
}

TEST_F(ImageKeeperTest, WhatIsNoFileIsNotLookedFor) {
  Map(7, "[vdso]");
  Map(7, "//anon");
  keeper_->Take({.pid = 7, .prot = PROT_READ, .filename = "/proc/self/exe"});
  EXPECT_EQ(kept_->size(), 0U);
}

TEST_F(ImageKeeperTest, OfAllProcessesOnlyFilesThatCannotBeUnmountedAreKept) {
  Limit({.files = 100, .system_wide = true});
  const std::string memory = "/dev/shm/" + std::to_string(getpid());
  std::error_code failed;
  fs::copy_file("/proc/self/exe", memory, failed);
  struct stat root, file;
  if (failed || stat("/", &root) != 0 || stat(memory.c_str(), &file) != 0 ||
      root.st_dev == file.st_dev) {
    fs::remove(memory, failed);
    GTEST_SKIP() << "/dev/shm is no file system of its own here";
  }
  Map(7, memory);
  fs::remove(memory);
  EXPECT_FALSE(Kept().has_value());
}

}  // namespace
}  // namespace profiler::record
