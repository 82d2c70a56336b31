#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "src/base/unique_fd.h"
#include "src/machine/image_ids/htlhash.h"
#include "src/machine/image_ids/mapped_files.h"

namespace profiler::image_ids {
namespace {

constexpr int64_t kLater = INT64_MAX;
constexpr uint32_t kNobody = 0;

std::string FileWith(const std::string& content, const std::string& name = "image") {
  std::string path = testing::TempDir() + "/" + name;
  std::remove(path.c_str());
  std::ofstream(path) << content;
  return path;
}

uint64_t InodeOf(const std::string& path) {
  struct stat file = {};
  EXPECT_EQ(stat(path.c_str(), &file), 0);
  return file.st_ino;
}

std::string HashOf(const std::string& content) {
  const UniqueFd fd(open(FileWith(content).c_str(), O_RDONLY | O_CLOEXEC));
  return HtlhashOfFd(fd.get());
}

// Python's hashlib gives the same ids.
TEST(Htlhash, IsOfTheFirstPageTheLastOneAndTheLength) {
  EXPECT_EQ(HashOf(""), "af5570f5a1810b7af78caf4bc70a660f");
  EXPECT_EQ(HashOf("abc"), "a7e79e8a85da69bad5c3fea209342ac9");
  EXPECT_EQ(HashOf(std::string(4096, 'a') + std::string(1000, 'b') + std::string(4096, 'c')),
            "1bb1f08fc6699468cd8029ba44b43dce");
  EXPECT_EQ(HtlhashOfFd(-1), "");
}

TEST(MappedFiles, NameAFileThatIsStillTheOneThatWasMapped) {
  const std::string path = FileWith("abc");
  MappedFiles files;
  files.Add(path, InodeOf(path));
  files.Add("/none", 7);
  EXPECT_EQ(files.HtlhashOf(path, kNobody, kLater), HashOf("abc"));
  EXPECT_EQ(files.HtlhashOf("/none", kNobody, kLater), "");
  EXPECT_EQ(files.HtlhashOf("/not/mapped", kNobody, kLater), "");
}

TEST(MappedFiles, NameNoFileThatWasChangedOrReplaced) {
  const std::string path = FileWith("abc", "changed");
  MappedFiles files;
  files.Add(path, InodeOf(path));
  EXPECT_EQ(files.HtlhashOf(path, kNobody, /*end=*/1'000'000'000), "");
  const std::string other = FileWith("abd", "other");
  std::rename(other.c_str(), path.c_str());
  EXPECT_EQ(files.HtlhashOf(path, kNobody, kLater), "");
}

TEST(MappedFiles, NameNoPathUnderWhichTwoFilesWereMapped) {
  const std::string path = FileWith("abc");
  MappedFiles files;
  files.Add(path, InodeOf(path));
  files.Add(path, InodeOf(path) + 1);
  files.Add(path, InodeOf(path));
  EXPECT_EQ(files.HtlhashOf(path, kNobody, kLater), "");
}

}  // namespace
}  // namespace profiler::image_ids
