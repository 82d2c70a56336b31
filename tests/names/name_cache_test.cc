#include "symbolize/names/name_cache.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "symbolize/names/name_store.h"
#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

namespace fs = std::filesystem;

const std::vector<std::byte> kBuildId(20, std::byte{7});

// A source of names that replaces reading files. It returns the same name for every address, and
// counts the requests.
class Files final : public FactSource {
 public:
  Files(int* asked, std::optional<TrustedFile> file) : asked_(asked), file_(file) {}
  std::optional<TrustedFile> TrustedFileOf(ImageId) override { return file_; }
  ImageId AddImage(const ImageSpec& spec) override {
    specs_.push_back(spec);
    return ImageId{static_cast<uint32_t>(specs_.size() - 1)};
  }
  const ImageSpec& image(ImageId id) const override { return specs_[static_cast<size_t>(id)]; }
  AddressFacts Find(ImageId, CodePlace place) override {
    ++*asked_;
    AddressFacts facts;
    facts.reason = Reason::kNamed;
    facts.address = {place.value};
    facts.function = {.name = "outer", .start = {0x100}, .size = 64};
    facts.has_debug_info = place.value < 0x1000;
    const uint32_t line = facts.has_debug_info ? 12 : 0;
    inlined_ = {.name = "_Z5Innerv", .at = {.file = "/src/inner.h", .line = line}};
    facts.inlined = {&inlined_, 1};
    facts.at = {.file = "/src/outer.c", .line = line == 0 ? 0 : 34u};
    return facts;
  }
  AddressFacts FindAt(ImageId, ElfAddress) override { return {}; }
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId) override {
    return absl::NotFoundError("no dump");
  }
  void SetKernelReference(std::string_view, RuntimeAddress) override {}
  void AddKernelSymbol(RuntimeAddress, uint64_t, std::string_view) override {}

 private:
  int* asked_;
  std::optional<TrustedFile> file_;
  std::vector<ImageSpec> specs_;
  AddressFacts::Inlined inlined_;
};

class NameCacheTest : public testing::Test {
 protected:
  NameCache Cache(uint64_t most_bytes = NameCache::kMostBytes) const {
    return NameCache(directory_, most_bytes);
  }
  std::optional<NameFacts> Read(const std::vector<std::byte>& build_id) const {
    return Cache().Read({.path = "/bin/program", .build_id = build_id}, *file_);
  }

  // Asks a new NameStore for the names at `offsets` in the image. Returns one line per offset, and
  // a line with the number of requests to Files.
  std::string Run(const std::vector<uint64_t>& offsets, const std::string& path = "/bin/program",
                  const std::vector<std::byte>& build_id = kBuildId, bool demangle = true) const {
    int asked = 0;
    std::ostringstream text;
    NameStore names({.files = std::make_unique<Files>(&asked, file_), .cache = Cache()},
                    {.demangle = demangle});
    const ImageId id = names.AddImage({.path = path, .build_id = build_id});
    for (const uint64_t offset : offsets) {
      const Naming naming = names.Name(id, FileOffset{offset});
      text << offset << ":";
      for (const NamedFunction& function : naming.functions) {
        text << " " << function.name << " " << function.file << ":" << function.line;
      }
      text << " +" << naming.distance << "\n";
    }
    names.SaveToCache();
    text << "asked " << asked;
    return text.str();
  }

  std::string OnlyFile() const {
    const auto entry = fs::directory_iterator(directory_);
    return entry == fs::directory_iterator() ? "" : entry->path().string();
  }
  size_t FileCount() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory_), {}));
  }

  int asked_ = 0;
  const std::string directory_ = TestDirectory() + "/names";
  // Owner and size of the file of every image; nothing if images have no trusted file.
  std::optional<TrustedFile> file_ = TrustedFile{.owner = 0, .size = 1234};
  static constexpr std::string_view k512 =
      "512: Inner() /src/inner.h:12 outer /src/outer.c:34 +256\n";
};

TEST_F(NameCacheTest, WhatOneRunLookedUpTheNextOneKnows) {
  EXPECT_EQ(Run({512}), std::string(k512) + "asked 1");
  EXPECT_EQ(Run({512}), std::string(k512) + "asked 0");
}

TEST_F(NameCacheTest, TheImageIsKnownByItsBuildIdWhereverItLies) {
  Run({512}, "/bin/program");
  EXPECT_EQ(Run({512}, "/usr/local/bin/program"), std::string(k512) + "asked 0");
  EXPECT_EQ(Run({512}, "/bin/program", std::vector<std::byte>(20, std::byte{8})),
            std::string(k512) + "asked 1");
}

TEST_F(NameCacheTest, EachRunAddsToWhatIsKnown) {
  Run({512});
  EXPECT_EQ(Run({512, 600}),
            std::string(k512) + "600: Inner() /src/inner.h:12 outer /src/outer.c:34 +344\nasked 1");
  EXPECT_EQ(Run({512, 600}),
            std::string(k512) + "600: Inner() /src/inner.h:12 outer /src/outer.c:34 +344\nasked 0");
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(NameCacheTest, NamesAreKeptAsTheLinkerHasThem) {
  Run({512});
  EXPECT_EQ(Run({512}, "/bin/program", kBuildId, /*demangle=*/false),
            "512: _Z5Innerv /src/inner.h:12 outer /src/outer.c:34 +256\nasked 0");
}

TEST_F(NameCacheTest, WhereDebugInformationKnowsNothingAllIsAskedForAgain) {
  Run({0x2000});
  EXPECT_FALSE(fs::exists(directory_));
  EXPECT_EQ(Run({0x2000}), "8192: Inner() /src/inner.h:0 outer /src/outer.c:0 +7936\nasked 1");
}

TEST_F(NameCacheTest, WhatDebugInformationDoesNotKnowThoughItKnowsSomeOfTheImageIsKeptAsWell) {
  Run({0x2000, 512});
  EXPECT_EQ(Run({0x2000}), "8192: Inner() /src/inner.h:0 outer /src/outer.c:0 +7936\nasked 0");
}

TEST_F(NameCacheTest, WhatIsKeptIsReadOnlyForImagesThatAreAskedAbout) {
  Run({512});
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(OnlyFile(), long_ago);
  Run({});
  EXPECT_EQ(fs::last_write_time(OnlyFile()), long_ago);  // reading an entry updates its file's time
  Run({512});
  EXPECT_GT(fs::last_write_time(OnlyFile()), long_ago);
}

TEST_F(NameCacheTest, AnImageWithoutABuildIdIsNotKept) {
  Run({512}, "/bin/program", {});
  EXPECT_FALSE(fs::exists(directory_));
}

TEST_F(NameCacheTest, ADamagedFileIsReadAsNoneAndWrittenAnew) {
  Run({512});
  const std::string path = OnlyFile();
  const std::string sound = ReadFile(path);
  for (size_t at = 0; at < sound.size(); ++at) {
    std::string damaged = sound;
    damaged[at] ^= 0x10;
    WriteFile(path, damaged);
    EXPECT_FALSE(Read(kBuildId)) << "byte " << at;
    WriteFile(path, sound.substr(0, at));
    EXPECT_FALSE(Read(kBuildId)) << "cut at " << at;
  }
  EXPECT_EQ(Run({512}), std::string(k512) + "asked 1");
  EXPECT_EQ(ReadFile(path), sound);
}

TEST_F(NameCacheTest, AnotherImagesFileIsNotBelieved) {
  Run({512});
  const std::vector<std::byte> other(20, std::byte{8});
  fs::rename(OnlyFile(), directory_ + "/0808080808080808080808080808080808080808-0-1234");
  EXPECT_FALSE(Read(other));
}

TEST_F(NameCacheTest, BeyondItsSizeTheFilesGoThatWereNotUsedForLongest) {
  const auto now = fs::file_time_type::clock::now();
  std::vector<std::vector<std::byte>> ids;
  for (int i = 0; i < 3; ++i) {
    ids.emplace_back(20, std::byte(i));
    Run({512}, "/bin/program", ids.back());
  }
  const uint64_t size = fs::file_size(OnlyFile());
  for (const auto& entry : fs::directory_iterator(directory_)) {
    fs::last_write_time(entry.path(), now - std::chrono::hours(1));
  }
  ASSERT_TRUE(Read(ids[1]));  // makes this entry the most recently used
  std::vector<NameCache::Found> added;
  added.push_back({{.build_id = std::vector<std::byte>(20, std::byte{9})}, *file_, *Read(ids[1])});
  added[0].facts.images[0].build_id = added[0].image.build_id;
  added[0].facts.images[0].has_debug_info = true;
  Cache(2 * size + size / 2).Add(added);
  std::string kept;
  for (int i : {0, 1, 2, 9}) {
    if (Read(std::vector<std::byte>(20, std::byte(i)))) kept += std::to_string(i);
  }
  EXPECT_EQ(kept, "19");
}

TEST_F(NameCacheTest, AnotherFileThatSaysItHasTheBuildIdHasNamesOfItsOwn) {
  Run({512});
  file_ = {.owner = 0, .size = 1235};
  EXPECT_EQ(Run({512}), std::string(k512) + "asked 1");
  file_ = {.owner = 1000, .size = 1234};
  EXPECT_EQ(Run({512}), std::string(k512) + "asked 1");
  file_ = {.owner = 0, .size = 1234};
  EXPECT_EQ(Run({512}), std::string(k512) + "asked 0");
}

TEST_F(NameCacheTest, AFileOfNobodyToTrustIsNotKeptNorNamedByWhatIsKept) {
  const auto trusted = std::exchange(file_, std::nullopt);
  Run({512});
  EXPECT_FALSE(fs::exists(directory_));
  file_ = trusted;
  Run({512});
  file_.reset();
  EXPECT_EQ(Run({512}), std::string(k512) + "asked 1");
}

TEST_F(NameCacheTest, MakingRoomLeavesWhatIsNotTheCachesOwn) {
  const std::string outside = directory_ + ".outside";
  WriteFile(outside, std::string(1000, 'x'));
  const std::string id = "0102030405060708090a0b0c0d0e0f1011121314";
  for (const char* name : {"notes", "0102", "profiler-notes"}) {
    WriteFile(directory_ + "/" + name, std::string(1000, 'x'));
  }
  WriteFile(directory_ + "/" + id + "-1-", std::string(1000, 'x'));
  fs::create_symlink(outside, directory_ + "/" + id + "-0-7");
  fs::create_directory(directory_ + "/" + id + "-0-8");
  // Writes two files that earlier runs could leave: an entry of an earlier version, and a temporary
  // file of a run that was killed.
  WriteFile(directory_ + "/" + id, std::string(1000, 'x'));
  WriteFile(directory_ + "/profiler-1-2.tmp", std::string(1000, 'x'));
  NameStore names({.files = std::make_unique<Files>(&asked_, file_), .cache = Cache(1)}, {});
  names.Name(names.AddImage({.path = "/bin/program", .build_id = kBuildId}), FileOffset{512});
  names.SaveToCache();
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(directory_)) {
    left.push_back(entry.path().filename());
  }
  std::ranges::sort(left);
  EXPECT_EQ(left, (std::vector<std::string>{"0102", id + "-0-7", id + "-0-8", id + "-1-", "notes",
                                            "profiler-notes"}));
  EXPECT_TRUE(fs::exists(outside));
}

TEST_F(NameCacheTest, ALinkIsNeitherReadNorWrittenThrough) {
  Run({512});
  const std::string path = OnlyFile(), outside = directory_ + ".outside";
  const std::string sound = ReadFile(path);
  fs::rename(path, outside);
  fs::create_symlink(outside, path);
  EXPECT_FALSE(Read(kBuildId));
  WriteFile(outside, "another one's");
  Run({512});
  EXPECT_EQ(ReadFile(outside), "another one's");
  EXPECT_EQ(ReadFile(path), sound);
  EXPECT_FALSE(fs::is_symlink(path));
}

TEST_F(NameCacheTest, ADirectoryThatAllMayWriteToIsNotUsed) {
  Run({512});
  fs::permissions(directory_, fs::perms::all);
  EXPECT_FALSE(Read(kBuildId));
  EXPECT_EQ(Run({512}), std::string(k512) + "asked 1");
}

TEST_F(NameCacheTest, AFileOfAnEarlierVersionIsNotRead) {
  Run({512});
  std::string file = ReadFile(OnlyFile());
  ASSERT_TRUE(file.starts_with("PROFNAM3"));
  file[7] = '1';
  WriteFile(OnlyFile(), file);
  EXPECT_FALSE(Read(kBuildId));
}

TEST_F(NameCacheTest, AFullOrForbiddenPlaceLosesOnlyTheCache) {
  WriteFile(directory_, "a file where the directory should be");
  EXPECT_EQ(Run({512}), std::string(k512) + "asked 1");
  EXPECT_EQ(ReadFile(directory_), "a file where the directory should be");
}

TEST_F(NameCacheTest, RunsAtTheSameTimeLeaveASoundFile) {
  std::vector<std::thread> runs;
  for (uint64_t i = 0; i < 8; ++i) {
    runs.emplace_back([this, i] {
      for (uint64_t offset = 0x100; offset < 0x140; ++offset) Run({offset + i * 0x40});
    });
  }
  for (std::thread& run : runs) run.join();
  EXPECT_TRUE(Read(kBuildId));
}

TEST(UsersDirectoryTest, IsBelowTheUsersCacheAndNoneInAnotherUsersHome) {
  const std::string home = TestDirectory();
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", home.c_str(), 1);
  EXPECT_EQ(NameCache::UsersDirectory(/*lines=*/true), home + "/.cache/profiler/names");
  EXPECT_EQ(NameCache::UsersDirectory(/*lines=*/false), home + "/.cache/profiler/functions");
  setenv("XDG_CACHE_HOME", (home + "/elsewhere").c_str(), 1);
  EXPECT_EQ(NameCache::UsersDirectory(/*lines=*/true), home + "/elsewhere/profiler/names");
  setenv("XDG_CACHE_HOME", "not/absolute", 1);
  unsetenv("HOME");
  EXPECT_EQ(NameCache::UsersDirectory(/*lines=*/true), "");
  if (geteuid() != 0) {
    setenv("HOME", "/", 1);
    EXPECT_EQ(NameCache::UsersDirectory(/*lines=*/true), "");
  } else if (chown(home.c_str(), 65534, 65534) == 0) {
    setenv("HOME", home.c_str(), 1);
    EXPECT_EQ(NameCache::UsersDirectory(/*lines=*/true), "");
  }
}

}  // namespace
}  // namespace profiler::symbolize
