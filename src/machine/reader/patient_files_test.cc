#include "src/machine/reader/patient_files.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/file_systems.h"
#include "src/base/regular_file.h"

namespace profiler::reader {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

namespace fs = std::filesystem;

// A file system that never answers for names that contain "hangs".
class HangingFiles final : public FileAccess {
 public:
  absl::StatusOr<UniqueFd> OpenRegularFile(const std::string& path,
                                           const std::string& root) override {
    Hang(path);
    return FileAccess::OpenRegularFile(path, root);
  }
  std::optional<FileId> FileIdOf(const std::string& path) override {
    Hang(path);
    return FileAccess::FileIdOf(path);
  }

 private:
  static void Hang(const std::string& path) {
    while (path.find("hangs") != std::string::npos) pause();
  }
};

class PatientFilesTest : public testing::Test {
 protected:
  PatientFilesTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ + "/inner");
    std::ofstream(folder_ + "/a") << "text of a";
    fs::create_symlink("a", folder_ + "/link");
  }
  std::string TextAt(const std::string& path, const std::string& root = {}) {
    const auto file = files_.OpenRegularFile(path, root);
    if (!file.ok()) return std::string(absl::StatusCodeToString(file.status().code()));
    std::string text(100, 0);
    text.resize(static_cast<size_t>(read(file->get(), text.data(), text.size())));
    return text;
  }

  const std::string folder_ = testing::TempDir() + "patient_files";
  HangingFiles hanging_;
  PatientFiles files_{{.deadline = std::chrono::milliseconds(200), .files = &hanging_}};
};

TEST_F(PatientFilesTest, OpensAFileInAnotherProcess) {
  EXPECT_EQ(TextAt(folder_ + "/a"), "text of a");
  EXPECT_EQ(TextAt(folder_ + "/link"), "text of a");
  EXPECT_EQ(TextAt(folder_ + "/a", folder_), "text of a");
}

TEST_F(PatientFilesTest, OpensAFileByARelativePath) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_EQ(TextAt("a"), "text of a");
  EXPECT_EQ(files_.LinkAt("link"), "a");
  fs::current_path(before);
}

TEST_F(PatientFilesTest, GivesTheErrorOfTheOtherProcess) {
  EXPECT_EQ(TextAt(folder_ + "/none"), "NOT_FOUND");
  EXPECT_EQ(TextAt(folder_), "INVALID_ARGUMENT");
  EXPECT_EQ(files_.OpenRegularFile("/proc/self/status", {}).status().code(),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(PatientFilesTest, AnswersAllQuestionsAsTheFileSystemDoes) {
  EXPECT_EQ(files_.FileIdOf(folder_ + "/link"), FileAccess().FileIdOf(folder_ + "/a"));
  EXPECT_EQ(files_.FileIdOf(folder_ + "/none"), std::nullopt);
  EXPECT_EQ(files_.LinkAt(folder_ + "/link"), "a");
  EXPECT_EQ(files_.LinkAt(folder_ + "/a"), "");
  EXPECT_THAT(files_.NamesIn(folder_), UnorderedElementsAre("a", "inner", "link"));
  EXPECT_THAT(files_.NamesIn(folder_ + "/none"), ElementsAre());
  std::string text;
  EXPECT_TRUE(files_.ReadStart(folder_ + "/a", 4, &text).ok());
  EXPECT_EQ(text, "text");
}

TEST_F(PatientFilesTest, FindsTheDescriptorsOfThisProcess) {
  const UniqueFd own(open((folder_ + "/a").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(TextAt("/proc/self/fd/" + std::to_string(own.get())), "text of a");
}

TEST_F(PatientFilesTest, GoesOnBehindAFileSystemThatDoesNotAnswer) {
  EXPECT_EQ(TextAt(folder_ + "/inner/hangs"), "DEADLINE_EXCEEDED");
  EXPECT_EQ(TextAt(folder_ + "/a"), "text of a");
  EXPECT_THAT(files_.TakeNotes(),
              ElementsAre("the file system of " + folder_ +
                          "/inner did not answer within 200 ms, so files below it were not opened: "
                          "their code may lack names and callers"));
  EXPECT_THAT(files_.TakeNotes(), ElementsAre());
}

TEST_F(PatientFilesTest, AsksOnlyOnceAboutADirectoryThatDoesNotAnswer) {
  EXPECT_EQ(TextAt(folder_ + "/inner/hangs"), "DEADLINE_EXCEEDED");
  std::ofstream(folder_ + "/inner/b") << "text of b";
  EXPECT_EQ(TextAt(folder_ + "/inner/b"), "DEADLINE_EXCEEDED");
  EXPECT_EQ(files_.FileIdOf(folder_ + "/inner/deeper/b"), std::nullopt);
}

TEST_F(PatientFilesTest, AsksOnlyOnceAboutAProcess) {
  const std::string process = "/proc/" + std::to_string(getpid());
  EXPECT_EQ(files_.FileIdOf(process + "/root/hangs"), std::nullopt);
  EXPECT_EQ(files_.FileIdOf(process + "/exe"), std::nullopt);
  EXPECT_THAT(files_.TakeNotes(),
              ElementsAre("a file system of process " + std::to_string(getpid()) +
                          " did not answer within 200 ms: code of this and other processes of its "
                          "user may lack names and callers"));
}

TEST_F(PatientFilesTest, KeepsFilesOfTheSystemWhenTooManyHang) {
  for (size_t i = 0; i < kMostFilesAbandoned + 2; ++i) {
    EXPECT_EQ(files_.FileIdOf("/hangs" + std::to_string(i) + "/x"), std::nullopt);
  }
  EXPECT_EQ(TextAt(folder_ + "/a"), "DEADLINE_EXCEEDED");
  EXPECT_TRUE(files_.FileIdOf("/usr/bin").has_value());
  EXPECT_EQ(files_.TakeNotes().size(), kMostFilesAbandoned + 1);
}

TEST_F(PatientFilesTest, AForkedProcessHasReadersOfItsOwn) {
  EXPECT_EQ(TextAt(folder_ + "/a"), "text of a");
  const pid_t child = fork();
  if (child == 0) _exit(TextAt(folder_ + "/a") == "text of a" ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(TextAt(folder_ + "/a"), "text of a");
}

TEST_F(PatientFilesTest, IsAskedByTheFreeFunctionsWhileItLives) {
  {
    PatientFiles files;
    AccessFilesThrough(&files);
    EXPECT_EQ(LinkAt(folder_ + "/link"), "a");
    EXPECT_TRUE(OpenRegularFile(folder_ + "/a").ok());
    EXPECT_GT(files.CpuTime().count(), 0);
  }
  EXPECT_TRUE(OpenRegularFile(folder_ + "/a").ok());
}

}  // namespace
}  // namespace profiler::reader
