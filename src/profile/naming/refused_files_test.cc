#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "src/profile/naming/naming.h"

namespace profiler::naming {
namespace {

class RefusedFilesTest : public testing::Test {
 protected:
  // Adds an image with this many addresses without a name, for the reason `why`.
  void AddImage(std::string_view path, std::vector<std::byte> build_id, size_t addresses,
                profile::Unnamed why = profile::Unnamed::kBuildIdMismatch,
                symbolize::ImageKind kind = symbolize::ImageKind::kUser) {
    const auto image = profile::ImageId(static_cast<uint32_t>(profile_.images.size()));
    const StringId name = profile_.strings.Intern(path);
    profile_.images.push_back(
        {.name = name, .long_name = name, .kind = kind, .build_id = std::move(build_id)});
    profile::Frame frame;
    frame.image = image;
    frame.unnamed = why;
    for (size_t i = 0; i < addresses; ++i) profile_.frames.push_back(frame);
  }
  std::string Lines(bool lists_each = false) {
    std::string text;
    for (const std::string& line : RefusedFiles(profile_, lists_each)) text += line + "\n";
    return text;
  }

 private:
  profile::Profile profile_;
};

TEST_F(RefusedFilesTest, OneImageIsNamed) {
  AddImage("/bin/cat", {std::byte{0xab}, std::byte{0xcd}}, 1);
  AddImage("/bin/dog", {}, 7, profile::Unnamed::kNoSymbol);
  EXPECT_EQ(Lines(),
            "/bin/cat is another build now than the one recorded (build-id abcd): no names are "
            "taken from it, 1 address has none\n");
}

TEST_F(RefusedFilesTest, SeveralHaveALineTogetherUnlessEachIsAskedFor) {
  AddImage("/bin/cat", {std::byte{0xab}}, 2);
  AddImage("/bin/dog (deleted)", {}, 3);
  EXPECT_EQ(Lines(),
            "2 images are another build now than the one recorded: no names are taken from their "
            "files, 5 addresses have none (`profiler report -v` lists them)\n");
  EXPECT_EQ(Lines(/*lists_each=*/true),
            "/bin/cat is another build now than the one recorded (build-id ab): no names are taken "
            "from it, 2 addresses have none\n"
            "/bin/dog (deleted) is another build now than the one recorded (a file that was "
            "deleted): no names are taken from it, 3 addresses have none\n");
}

TEST_F(RefusedFilesTest, AFileWithoutBuildIdIsSaidToHaveNone) {
  AddImage("/bin/cat", {}, 1);
  EXPECT_EQ(Lines(),
            "/bin/cat is another build now than the one recorded (a file without build-id, of "
            "another inode or older; --symfs / takes it all the same): no names are taken from it, "
            "1 address has none\n");
}

TEST_F(RefusedFilesTest, TheKernelAndItsModulesHaveOneLineWithTheRemedy) {
  constexpr auto kWhy = profile::Unnamed::kBuildIdMismatch;
  AddImage("[ext4]", {}, 2, kWhy, symbolize::ImageKind::kModule);
  EXPECT_EQ(Lines(),
            "nothing proves that the kernel that runs here is the recorded one: no names are taken "
            "from it, 2 addresses have none; give that kernel's symbols with --kallsyms FILE, or "
            "run `profiler archive` where the recording was made\n");
  AddImage("[kernel.kallsyms]", {std::byte{0xab}}, 3, kWhy, symbolize::ImageKind::kKernel);
  AddImage("/bin/cat", {std::byte{0xcd}}, 1);
  EXPECT_EQ(Lines(),
            "another kernel runs here than was recorded (build-id ab): no names are taken from it, "
            "5 addresses have none; give that kernel's symbols with --kallsyms FILE, or run "
            "`profiler archive` where the recording was made\n"
            "/bin/cat is another build now than the one recorded (build-id cd): no names are taken "
            "from it, 1 address has none\n");
}

TEST_F(RefusedFilesTest, WhereNoneWasRefusedNothingIsSaid) {
  AddImage("/bin/cat", {}, 2, profile::Unnamed::kNoImageFile);
  EXPECT_EQ(Lines(), "");
}

}  // namespace
}  // namespace profiler::naming
