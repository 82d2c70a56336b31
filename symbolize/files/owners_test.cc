// Whose files are believed.

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/files/file_facts.h"
#include "symbolize/test_files.h"

namespace profiler::symbolize {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class OwnersTest : public testing::Test {
 protected:
  OwnersTest() : directory_(TestDirectory()) {
    options_.proc_path = Path("proc");
    options_.kallsyms_path = Path("proc/kallsyms");
    options_.sys_path = Path("sys");
    options_.jit_map_directory = Path("tmp");
    options_.debug_directories = {Path("debug")};
    options_.build_id_caches = {};
  }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  // Copies a fixture into the directory; its path there.
  std::string Copy(std::string_view fixture, const std::string& to) const {
    WriteFile(Path(to), ReadFile(TestFile(fixture)));
    return Path(to);
  }

  // False, and the test skipped, where files cannot be given away.
  static bool GiveTo(uid_t owner, const std::string& path) {
    if (lchown(path.c_str(), owner, owner) == 0) return true;
    [] { GTEST_SKIP() << "only root can give files to another user"; }();
    return false;
  }

  // "OWNER SIZE".
  std::string Trusted(const ImageSpec& spec) const {
    const auto files = CreateFileFacts(options_);
    const auto file = files->TrustedFileOf(files->AddImage(spec));
    return file ? std::to_string(file->owner) + " " + std::to_string(file->size) : "none";
  }
  std::string OwnFile(const std::string& path) const {
    return std::to_string(geteuid()) + " " + std::to_string(fs::file_size(path));
  }

  const std::string directory_;
  SymbolizerOptions options_;
};

TEST_F(OwnersTest, OfTheUserAreTrusted) {
  const std::string path = Copy("pie", "bin/pie");
  EXPECT_EQ(Trusted({.path = path}), OwnFile(path));
  EXPECT_EQ(Trusted({.path = Path("none")}), "none");
  EXPECT_EQ(Trusted({.kind = ImageKind::kVdso, .path = "[vdso]"}), "none");
}

TEST_F(OwnersTest, OfOthersAreNot) {
  const std::string path = Copy("pie", "bin/pie");
  if (!GiveTo(kNobody, path)) return;
  EXPECT_EQ(Trusted({.path = path}), "none");
}

// Its root is not ours, though their numbers are the same.
TEST_F(OwnersTest, OfAContainerAreNot) {
  Copy("pie", "container/bin/pie");
  fs::create_directories(Path("proc/42"));
  fs::create_symlink(Path("container"), Path("proc/42/root"));
  EXPECT_EQ(Trusted({.path = "/bin/pie", .pid = 42}), "none");
}

TEST_F(OwnersTest, OfAServiceThatSeesOurFilesAreOurs) {
  const std::string path = Copy("pie", "bin/pie");
  fs::create_directories(Path("service") + Path("bin"));
  fs::create_hard_link(path, Path("service") + path);
  fs::create_directories(Path("proc/42"));
  fs::create_symlink(Path("service"), Path("proc/42/root"));
  EXPECT_EQ(Trusted({.path = path, .pid = 42}), OwnFile(path));
}

}  // namespace
}  // namespace profiler::symbolize
