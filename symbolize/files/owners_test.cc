// Tests which files are trusted, by their owner and time.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/files/file_facts.h"
#include "symbolize/process_life.h"
#include "symbolize/symbols/testing/jit_dump_builder.h"
#include "symbolize/testing/test_files.h"

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

  // Copies a fixture into the directory and returns its path there.
  std::string Copy(std::string_view fixture, const std::string& to) const {
    WriteFile(Path(to), ReadFile(TestFile(fixture)));
    return Path(to);
  }

  // Returns false and skips the test if the user cannot change owners of files.
  static bool GiveTo(uid_t owner, const std::string& path) {
    if (lchown(path.c_str(), owner, owner) == 0) return true;
    [] { GTEST_SKIP() << "only root can give files to another user"; }();
    return false;
  }

  // Formats the result as "OWNER SIZE".
  std::string Trusted(const ImageSpec& spec) const {
    const auto files = CreateFileFacts(options_);
    const auto file = files->TrustedFileOf(files->AddImage(spec));
    return file ? std::to_string(file->owner) + " " + std::to_string(file->size) : "none";
  }
  std::string OwnFile(const std::string& path) const {
    return std::to_string(geteuid()) + " " + std::to_string(fs::file_size(path));
  }

  std::string NameOfMarkedCode(const std::string& path) const {
    const auto files = CreateFileFacts(options_);
    const FileOffset at{ReadFile(path).find("<the bytes of marked_code>")};
    const AddressFacts facts = files->Find(files->AddImage({.path = path}), at);
    return facts.function ? std::string(facts.function->name) : "none";
  }
  bool HasInlinedCalls(const std::string& path) const {
    const auto files = CreateFileFacts(options_);
    const ImageId image = files->AddImage({.path = path});
    const uint64_t size = fs::file_size(path);
    for (uint64_t offset = 0; offset < size; ++offset) {
      if (!files->Find(image, FileOffset{offset}).inlined.empty()) return true;
    }
    return false;
  }

  // Fakes process 42. It runs as these users, and began when this process began.
  void RunProcess(const std::string& users) const {
    WriteFile(Path("proc/42/status"), "Name:\tnode\nUid:\t" + users + "\nGid:\t0\n");
    const std::string stat = ReadFile("/proc/self/stat");
    WriteFile(Path("proc/42/stat"), "42 (a) b)" + stat.substr(stat.rfind(')') + 1));
  }
  std::string WriteMap() const {
    WriteFile(Path("tmp/perf-42.map"), "1000 20 f\n");
    return Path("tmp/perf-42.map");
  }
  std::string WriteDump() const {
    WriteFile(Path("tmp/jit-42.dump"), JitDumpBuilder().Load(10, 0x1000, 1, "f", "abcd").bytes());
    return Path("tmp/jit-42.dump");
  }

  // Returns a life that ended an hour before the current process of that pid began.
  static ProcessLife EarlierLife() {
    constexpr int64_t kHour = 3'600'000'000'000;
    const int64_t begin = *BeginOfProcess("/proc/self");
    return {.seen = begin - kHour, .over = begin - kHour};
  }
  static ProcessLife ThisLife() { return {.seen = *BeginOfProcess("/proc/self")}; }
  // Sets the modification time of a file.
  static void WrittenAt(int64_t real_time, const std::string& path) {
    constexpr int64_t kSecond = 1'000'000'000;
    const timespec time = {real_time / kSecond, real_time % kSecond};
    const timespec times[] = {time, time};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  // Returns the name of generated code of process 42.
  std::string NameByMap(const ProcessLife& life = {}) const {
    const auto files = CreateFileFacts(options_);
    files->SetLife(42, life);
    const ImageId image = files->AddImage({.kind = ImageKind::kJit, .path = "//anon", .pid = 42});
    const AddressFacts facts = files->Find(image, RuntimeAddress{0x1010});
    return facts.function ? std::string(facts.function->name) : "none";
  }
  std::string CodesOfDump(const ProcessLife& life = {}) const {
    const auto files = CreateFileFacts(options_);
    files->SetLife(42, life);
    const ImageId dump =
        files->AddImage({.kind = ImageKind::kJitDump, .path = Path("tmp/jit-42.dump"), .pid = 42});
    const auto codes = files->JitCodes(dump);
    if (codes.ok()) return std::to_string(codes->size());
    return std::string(codes.status().message());
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

// A file in a container may belong to its root, who is not our root although the numbers are equal.
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

TEST_F(OwnersTest, ALinkInTheUsersImageIsFollowedToTheUsersFile) {
  const std::string image = Copy("split", "bin/split");
  const std::string debug = Copy("split.debug", "bin/split.debug");
  EXPECT_EQ(NameOfMarkedCode(image), "marked_code");
  if (!GiveTo(kNobody, debug)) return;
  EXPECT_EQ(NameOfMarkedCode(image), "none");
}

TEST_F(OwnersTest, ALinkInAnothersImageIsNotFollowedButItsBuildIdIs) {
  const std::string image = Copy("split", "bin/split");
  const std::string debug = Copy("split.debug", "bin/split.debug");
  if (!GiveTo(kNobody, image)) return;
  EXPECT_EQ(NameOfMarkedCode(image), "none");
  const auto bytes = Bytes(ReadFile(image));
  const auto elf = ElfImage::Parse(bytes);
  ASSERT_TRUE(elf.ok());
  const std::string by_id = BuildIdPath(options_.debug_directories[0], elf->build_id()) + ".debug";
  fs::create_directories(fs::path(by_id).parent_path());
  fs::rename(debug, by_id);
  EXPECT_EQ(NameOfMarkedCode(image), "marked_code");
}

TEST_F(OwnersTest, SplitUnitsAreThoseThatTheUsersImageNames) {
  const std::string program = Path("program"), unit = Path("program-inlines.dwo");
  const std::string compile = "cd '" + directory_ +
                              "' && g++ -std=c++14 -O2 -gdwarf-5 -gsplit-dwarf '" +
                              TestFile("inlines.cc") + "' -o program";
  if (std::system(compile.c_str()) != 0) GTEST_SKIP() << "no compiler here";
  ASSERT_TRUE(fs::exists(unit));
  EXPECT_TRUE(HasInlinedCalls(program));
  if (!GiveTo(kNobody, unit)) return;
  EXPECT_FALSE(HasInlinedCalls(program));
  GiveTo(geteuid(), unit);
  EXPECT_TRUE(HasInlinedCalls(program));
  GiveTo(kNobody, program);
  EXPECT_FALSE(HasInlinedCalls(program));
}

TEST_F(OwnersTest, AMapOfTheUserIsRead) {
  WriteMap();
  EXPECT_EQ(NameByMap(), "f");
  RunProcess("7\t7\t7\t7");
  EXPECT_EQ(NameByMap(), "f");
}

TEST_F(OwnersTest, AMapOfAnotherUserIsReadIfTheProcessRunsAsThatUser) {
  if (!GiveTo(kNobody, WriteMap())) return;
  EXPECT_EQ(NameByMap(), "none") << "the process has ended";
  RunProcess("7\t7\t7\t7");
  EXPECT_EQ(NameByMap(), "none");
  RunProcess("7\t7\t7\t65534");
  EXPECT_EQ(NameByMap(), "f");
}

TEST_F(OwnersTest, ADumpOfAnotherUserIsReadIfTheProcessRunsAsThatUser) {
  if (!GiveTo(kNobody, WriteDump())) return;
  RunProcess("7\t7\t7\t7");
  EXPECT_EQ(CodesOfDump(),
            Path("tmp/jit-42.dump") + " is owned by another user than the process, you or root");
  RunProcess("65534\t65534\t65534\t65534");
  EXPECT_EQ(CodesOfDump(), "1");
}

TEST_F(OwnersTest, AMapThatIsOlderThanItsProcessIsOneOfAnEarlierProcess) {
  RunProcess("0\t0\t0\t0");
  const std::string map = WriteMap();
  EXPECT_EQ(NameByMap(), "f");
  fs::last_write_time(map, fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(NameByMap(), "none");
  fs::remove_all(Path("proc"));
  EXPECT_EQ(NameByMap(), "f") << "nobody knows when the process began";
}

TEST_F(OwnersTest, OfAnotherProcessWithTheNumberNothingIsUsed) {
  RunProcess("65534\t65534\t65534\t65534");
  WriteMap();
  WriteDump();
  EXPECT_EQ(NameByMap(ThisLife()), "f");
  EXPECT_EQ(NameByMap(EarlierLife()), "none");
  EXPECT_EQ(CodesOfDump(ThisLife()), "1");
  EXPECT_EQ(CodesOfDump(EarlierLife()),
            Path("tmp/jit-42.dump") + " belongs to a later process with the same id");
  // If the time of the end is unknown, the process may have ended before the file was written.
  EXPECT_EQ(NameByMap({.has_ended = true}), "none");
}

TEST_F(OwnersTest, TheUserOfAnotherProcessWithTheNumberOwnsNoMapOfTheRecordedOne) {
  RunProcess("65534\t65534\t65534\t65534");
  const std::string map = WriteMap();
  WrittenAt(EarlierLife().seen, map);
  EXPECT_EQ(NameByMap(EarlierLife()), "f") << "the map is the recorded process's own";
  if (!GiveTo(kNobody, map)) return;
  EXPECT_EQ(NameByMap(EarlierLife()), "none");
}

TEST_F(OwnersTest, TheRootOfAnotherProcessWithTheNumberIsNotTheImages) {
  const std::string in_container = Copy("pie", "container/bin/pie");
  RunProcess("0\t0\t0\t0");
  fs::create_symlink(Path("container"), Path("proc/42/root"));
  const auto name = [&](const ProcessLife& life) {
    const auto files = CreateFileFacts(options_);
    files->SetLife(42, life);
    const FileOffset at{ReadFile(in_container).find("<the bytes of marked_code>")};
    const AddressFacts facts = files->Find(files->AddImage({.path = "/bin/pie", .pid = 42}), at);
    return facts.function ? std::string(facts.function->name) : "none";
  };
  EXPECT_EQ(name(ThisLife()), "marked_code");
  EXPECT_EQ(name(EarlierLife()), "none");
}

TEST_F(OwnersTest, AMapThatAnotherProgramOfTheProcessWroteIsNotTheRecordedOnes) {
  RunProcess("0\t0\t0\t0");
  ProcessLife life = ThisLife();
  life.is_replaced = true;
  life.over = life.seen + 1'000'000'000;
  const std::string map = WriteMap();
  WrittenAt(life.over - 500'000'000, map);
  EXPECT_EQ(NameByMap(life), "f");
  WrittenAt(life.over + 500'000'001, map);
  EXPECT_EQ(NameByMap(life), "none");
  // The later program began when the earlier one was replaced.
  const ProcessLife later = {.began = life.over, .seen = life.over};
  EXPECT_EQ(NameByMap(later), "f");
  WrittenAt(life.over - 500'000'001, map);
  EXPECT_EQ(NameByMap(later), "none");
}

TEST_F(OwnersTest, AMapThatIsALinkIsTheFileThatItLeadsTo) {
  const std::string map = WriteMap(), elsewhere = Path("elsewhere");
  fs::rename(map, elsewhere);
  fs::create_symlink(elsewhere, map);
  EXPECT_EQ(NameByMap(), "f");
  if (!GiveTo(kNobody, elsewhere)) return;
  EXPECT_EQ(NameByMap(), "none");
}

}  // namespace
}  // namespace profiler::symbolize
