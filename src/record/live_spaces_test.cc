#include "src/record/live_spaces.h"

#include <elf.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::record {
namespace {

using perf_event::Attr;
using perf_event::RecordBuilder;

// No process of a machine has this id.
constexpr uint32_t kNoSuchProcess = 100'000'000;

Attr UsualAttr() {
  return perf_event::SampleAttr(perf_event::kSampleIp | perf_event::kSampleTid |
                                perf_event::kSampleTime);
}

std::string CopyOfAProgram(const std::string& name) {
  // The path as /proc shows it, without links and doubled slashes.
  const std::string path = std::filesystem::canonical(testing::TempDir()) / name;
  std::filesystem::copy_file("/proc/self/exe", path,
                             std::filesystem::copy_options::overwrite_existing);
  return path;
}

// True if this process has the file mapped, even if the file was removed.
bool HasMapped(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  return text.find(path) != std::string::npos;
}

// Returns the number of files of a directory that this process has mapped.
size_t CountMapped(const std::string& directory) {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(directory) != std::string::npos) ++count;
  }
  return count;
}

class LiveSpacesTest : public testing::Test {
 protected:
  void Take(const RecordBuilder& records) {
    for (const perf_event::RawRecord record : records.records()) spaces_.Take(record);
  }
  void Map(uint32_t pid, const std::string& path, uint64_t address = 0x1000) {
    RecordBuilder records(UsualAttr());
    Take(records.By(pid, pid).Mmap2(address, 0x1000, 0, path));
  }
  // Makes a program with `names` hard links in a directory of its own.
  static std::string LinkAProgram(const std::string& directory, size_t names) {
    const std::string program = CopyOfAProgram("linked");
    const std::string path = std::filesystem::canonical(testing::TempDir()) / directory;
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    for (size_t i = 0; i < names; ++i) {
      std::filesystem::create_hard_link(program, path + "/" + std::to_string(i));
    }
    return path;
  }
  void End(uint32_t pid) {
    RecordBuilder records(UsualAttr());
    Take(records.By(pid, pid).Exit());
  }
  // Ends more processes than LiveSpaces remembers after their end.
  void EndManyProcesses() {
    constexpr uint32_t kMany = 1000;
    for (uint32_t i = 1; i <= kMany; ++i) End(kNoSuchProcess + i);
  }

  reader::Readers readers_;
  LiveSpaces spaces_{perf_event::RecordLayout(UsualAttr()), perf_event::RecordLayout(UsualAttr()),
                     "/proc", readers_};
};

// Makes a copy of a program whose header counts `count` sections; the section headers lie in a hole
// at the end of the file.
std::string CopyOfSections(const std::string& name, uint16_t count) {
  const std::string path = CopyOfAProgram(name);
  const uint64_t size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size + count * sizeof(Elf64_Shdr));
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offsetof(Elf64_Ehdr, e_shoff))
      .write(reinterpret_cast<const char*>(&size), sizeof(size));
  file.seekp(offsetof(Elf64_Ehdr, e_shnum))
      .write(reinterpret_cast<const char*>(&count), sizeof(count));
  return path;
}

TEST_F(LiveSpacesTest, OpensNoFilesOfOthersWithTensOfThousandsOfSections) {
  constexpr uid_t kSomebodyElse = 1234;
  const std::string own = CopyOfSections("own", 60'000), few = CopyOfSections("few", 100),
                    many = CopyOfSections("many", 60'000);
  for (const std::string& path : {few, many}) {
    if (chown(path.c_str(), kSomebodyElse, kSomebodyElse) != 0) {
      GTEST_SKIP() << "no file of somebody else can be made";
    }
  }
  for (const std::string& path : {own, few, many}) Map(kNoSuchProcess, path);
  EXPECT_TRUE(HasMapped(own));
  EXPECT_TRUE(HasMapped(few));
  EXPECT_FALSE(HasMapped(many));
}

TEST_F(LiveSpacesTest, LetsGoOfAFileThatNoProcessHasMapped) {
  const std::string path = CopyOfAProgram("let_go");
  Map(kNoSuchProcess, path);
  unlink(path.c_str());
  EXPECT_TRUE(HasMapped(path));
  End(kNoSuchProcess);
  EndManyProcesses();
  EXPECT_FALSE(HasMapped(path));
}

TEST_F(LiveSpacesTest, KeepsAFileThatOneProcessStillHasMapped) {
  const std::string path = CopyOfAProgram("kept");
  const auto self = static_cast<uint32_t>(getpid());
  Map(kNoSuchProcess, path);
  Map(self, path);
  End(kNoSuchProcess);
  EndManyProcesses();
  EXPECT_TRUE(HasMapped(path));
}

TEST_F(LiveSpacesTest, OpensAFileAgainThatIsMappedAgain) {
  const std::string path = CopyOfAProgram("again");
  Map(kNoSuchProcess, path);
  End(kNoSuchProcess);
  EndManyProcesses();
  EXPECT_FALSE(HasMapped(path));
  Map(kNoSuchProcess + 5000, path);
  EXPECT_TRUE(HasMapped(path));
}

// Programs with many plugins map thousands of images. So does a virtual machine that makes a
// library for each foreign function.
TEST_F(LiveSpacesTest, OneProcessMayHaveThousandsOfImagesAsLongAsNobodyElseNeedsTheRoom) {
  constexpr size_t kNames = 3000;
  const std::string directory = LinkAProgram("plugins", kNames);
  for (size_t i = 0; i < kNames; ++i) {
    Map(kNoSuchProcess, directory + "/" + std::to_string(i), (i + 1) * 0x1000);
  }
  EXPECT_EQ(CountMapped(directory), kNames);
}

// A program may map one file under any number of names.
TEST_F(LiveSpacesTest, OneProcessCannotTakeTheRoomOfTheOthers) {
  constexpr size_t kNames = 4200;
  std::string deep = "names";
  for (size_t i = 0; i < 18; ++i) deep += "/" + std::string(200, 'd');
  const std::string directory = LinkAProgram(deep, kNames);
  for (size_t i = 0; i < kNames; ++i) {
    Map(kNoSuchProcess, directory + "/" + std::to_string(i), (i + 1) * 0x1000);
  }
  EXPECT_GT(CountMapped(directory), kNames / 2);
  EXPECT_LT(CountMapped(directory), kNames);
  const std::string other = CopyOfAProgram("other");
  Map(kNoSuchProcess + 1, other);
  EXPECT_TRUE(HasMapped(other));
}

TEST_F(LiveSpacesTest, WhatOneProcessMapsAndUnmapsForEverIsLetGoOf) {
  constexpr size_t kNames = 3000;
  const std::string directory = LinkAProgram("churned", kNames);
  for (size_t i = 0; i < 3 * kNames; ++i) {
    Map(kNoSuchProcess, directory + "/" + std::to_string(i % kNames));
    if (i % 1000 == 0) {
      EXPECT_LE(CountMapped(directory), 4097u);
    }
  }
  const std::string last = CopyOfAProgram("last");
  for (size_t i = 0; i < 300; ++i) Map(kNoSuchProcess, directory + "/" + std::to_string(i));
  Map(kNoSuchProcess, last);
  EXPECT_TRUE(HasMapped(last)) << "what it has unmapped takes none of its room";
}

}  // namespace
}  // namespace profiler::record
