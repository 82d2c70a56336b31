#include "symbolize/kept_files.h"

#include <fcntl.h>

#include <filesystem>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "src/base/file_id.h"
#include "symbolize/image_file.h"
#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

class KeptFilesTest : public testing::Test {
 protected:
  SharedFd Open(const std::string& path, int flags = O_RDONLY) {
    return std::make_shared<const UniqueFd>(open(path.c_str(), flags | O_CLOEXEC));
  }
  void Add(const std::string& path, std::vector<std::byte> build_id, const SharedFd& file,
           const SharedFd& root = nullptr) {
    kept_->Add(path, build_id, KeptFiles::VersionOf(file->get()), file, root);
  }
  // Adds an image whose file need not be kept.
  void AddOther(const std::string& path, ino_t inode) {
    kept_->Add(path, {}, {.inode = inode}, nullptr, nullptr);
  }
  // Copies the test's own executable.
  std::string Copy(const std::string& name) {
    const std::string path = directory_ + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::filesystem::copy_file("/proc/self/exe", path);
    return path;
  }
  static std::vector<std::byte> OwnBuildId() {
    const auto file = OpenElf("/proc/self/exe");
    const auto id = file->elf.build_id();
    return {id.begin(), id.end()};
  }
  OpenedImage Find(const std::string& path, std::vector<std::byte> build_id) {
    SymbolizerOptions options;
    options.debug_directories = {};
    options.build_id_caches = {};
    options.kept = kept_;
    return OpenImage({.path = path, .build_id = std::move(build_id)}, options);
  }

  const std::string directory_ = TestDirectory();
  const std::shared_ptr<KeptFiles> kept_ = std::make_shared<KeptFiles>();
  const std::vector<std::byte> id_ = Bytes("12345678");
};

TEST_F(KeptFilesTest, AFileIsFoundByItsBuildIdUnderAnyName) {
  const SharedFd file = Open(Copy("/a"));
  Add("/a", id_, file);
  const auto found = kept_->Find("/other", id_);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(FileIdOf(found->path), FileIdOf(file->get()));
  EXPECT_EQ(found->root, "");
  EXPECT_FALSE(kept_->Find("/a", Bytes("12345679")).has_value());
  EXPECT_FALSE(kept_->Find("/a", {}).has_value());
}

TEST_F(KeptFilesTest, OfFilesWithoutABuildIdTheOnlyOneOfItsNameIsFound) {
  const SharedFd file = Open(Copy("/a"));
  Add("/a", {}, file);
  EXPECT_TRUE(kept_->Find("/a", {}).has_value());
  EXPECT_FALSE(kept_->HasSeveral("/a"));
  Add("/a", {}, file);  // the same file, seen through another mount
  EXPECT_TRUE(kept_->Find("/a", {}).has_value());
  AddOther("/a", 1);
  EXPECT_FALSE(kept_->Find("/a", {}).has_value());
  EXPECT_TRUE(kept_->HasSeveral("/a"));
}

TEST_F(KeptFilesTest, AnImageThatIsGoneIsOpenedFromWhatWasKept) {
  const std::string program = Copy("/root/bin/program");
  Add("/bin/program", OwnBuildId(), Open(program),
      Open(directory_ + "/root", O_PATH | O_DIRECTORY));
  std::filesystem::remove(program);
  const OpenedImage opened = Find("/bin/program", OwnBuildId());
  ASSERT_EQ(opened.reason, Reason::kNamed);
  ASSERT_TRUE(opened.file.has_value());
  EXPECT_TRUE(SameBuildId(opened.file->elf.build_id(), OwnBuildId()));
  EXPECT_EQ(FileIdOf(opened.file->root), FileIdOf(directory_ + "/root"));
  EXPECT_EQ(opened.file->path, opened.file->root + "/bin/program");
}

TEST_F(KeptFilesTest, AnImageWithoutABuildIdIsTheKeptOneWhateverIsAtItsPathNow) {
  const std::string path = Copy("/program");
  const std::string other = Copy("/other");
  Add(path, {}, Open(other));
  const OpenedImage opened = Find(path, {});
  ASSERT_TRUE(opened.file.has_value());
  EXPECT_TRUE(opened.file->file.IsAt(other));
}

TEST_F(KeptFilesTest, WhereSeveralHadANameAndNoBuildIdNoneIsTaken) {
  const std::string path = Copy("/program");
  AddOther(path, 1);
  EXPECT_EQ(Find(path, {}).reason, Reason::kNamed);
  AddOther(path, 2);
  EXPECT_EQ(Find(path, {}).reason, Reason::kBuildIdMismatch);
}

TEST_F(KeptFilesTest, AKeptFileOfAnotherBuildIsNotUsed) {
  const std::string program = Copy("/program");
  Add("/gone", id_, Open(program));
  EXPECT_EQ(Find("/gone", id_).reason, Reason::kBuildIdMismatch);
}

}  // namespace
}  // namespace profiler::symbolize
