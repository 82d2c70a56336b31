#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/base/build_id.h"
#include "src/base/byte_reader.h"
#include "src/base/huge_memory.h"
#include "src/base/huge_vector.h"
#include "src/base/mapped_file.h"
#include "src/base/radix_sort.h"
#include "src/base/status.h"
#include "src/base/string_table.h"
#include "src/base/unique_fd.h"

namespace profiler {
namespace {

TEST(ErrnoStatus, NamesCauseAndRemedy) {
  absl::Status status = ErrnoStatus(EACCES, "perf_event_open", "run as root");
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(status.message(), "perf_event_open: Permission denied; run as root");
  EXPECT_EQ(ErrnoOf(status), EACCES);
  EXPECT_EQ(ErrnoOf(absl::InternalError("x")), 0);
}

TEST(RadixSort, SortsByOneKeyAfterTheOtherAndKeepsTheOrderOfEqualOnes) {
  const std::vector<uint64_t> low = {3, UINT64_MAX, 0, 3, 1ull << 40, 3};
  const std::vector<uint64_t> high = {1, 0, 1, 1, 1, 0};
  RadixSort sort(6);
  sort.SortBy([&](uint32_t item) { return low[item]; });
  sort.SortBy([&](uint32_t item) { return high[item]; });
  const HugeVector<uint32_t> sorted = sort.Order();
  EXPECT_EQ(std::vector<uint32_t>(sorted.begin(), sorted.end()),
            (std::vector<uint32_t>{5, 1, 2, 0, 3, 4}));
  EXPECT_TRUE(RadixSort(0).Order().empty());

  constexpr uint32_t kMany = 5000;
  RadixSort many(kMany);
  many.SortBy([](uint32_t item) { return uint64_t{item} * 0x9e3779b97f4a7c15; });
  many.SortBy([](uint32_t item) { return item % 7; });
  const HugeVector<uint32_t> by_rest = many.Order();
  for (uint32_t i = 1; i < kMany; ++i) {
    const auto key = [&](uint32_t at) {
      return std::pair(by_rest[at] % 7, uint64_t{by_rest[at]} * 0x9e3779b97f4a7c15);
    };
    ASSERT_LT(key(i - 1), key(i));
  }
}

TEST(ByteReader, FailureIsStickyAndReadsZero) {
  std::array<uint8_t, 6> raw = {1, 0, 0, 0, 7, 8};
  ByteReader reader(BytesOf(raw));
  EXPECT_EQ(reader.Read<uint32_t>(), 1u);
  EXPECT_EQ(reader.Read<uint32_t>(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.Read<uint8_t>(), 0);
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(ByteReader, CStringStopsAtNulAndNeedsOne) {
  ByteReader reader(BytesOfText(std::string_view("ab\0cd", 5)));
  EXPECT_EQ(reader.ReadCString(), "ab");
  EXPECT_EQ(reader.ReadCString(), "");
  EXPECT_FALSE(reader.ok());
}

TEST(StringTable, EqualStringsHaveOneId) {
  StringTable table;
  StringId a = table.Intern("main");
  EXPECT_EQ(table.Intern(std::string("main")), a);
  EXPECT_EQ(table.Intern(""), StringId::kEmpty);
  StringTable moved = std::move(table);
  EXPECT_EQ(moved[a], "main");
  EXPECT_EQ(moved.Intern("main"), a);
}

TEST(MappedFile, ShowsTheFileAndRefusesDirectories) {
  std::string path = testing::TempDir() + "/mapped";
  FILE* file = fopen(path.c_str(), "w");
  fputs("hello", file);
  fclose(file);
  auto mapped = MappedFile::Open(path);
  ASSERT_TRUE(mapped.ok());
  EXPECT_EQ(TextOf(mapped->bytes()), "hello");
  EXPECT_FALSE(MappedFile::Open(testing::TempDir()).ok());
  EXPECT_EQ(MappedFile::Open("/no/such/file").status().code(), absl::StatusCode::kNotFound);
}

// Overwrites a file in place, as `cp` onto an existing file does.
void Overwrite(const std::string& path, const std::string& contents) {
  FILE* file = fopen(path.c_str(), "w");
  fputs(contents.c_str(), file);
  fclose(file);
}

TEST(MappedFile, HasAPageOfZerosBehindIt) {
  const std::string path = testing::TempDir() + "/page";
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  Overwrite(path, std::string(page, 'x'));
  const auto mapped = MappedFile::Open(path);
  ASSERT_TRUE(mapped.ok());
  const std::byte* const behind = mapped->bytes().data() + page;
  EXPECT_TRUE(std::all_of(behind, behind + page, [](std::byte b) { return b == std::byte{0}; }));
}

TEST(MappedFile, ShowsZerosWhereItsFileWasCutAndSaysSo) {
  const std::string path = testing::TempDir() + "/cut";
  Overwrite(path, std::string(100'000, 'x'));
  auto mapped = MappedFile::Open(path);
  ASSERT_TRUE(mapped.ok());
  const MappedFile moved = *std::move(mapped);
  EXPECT_EQ(static_cast<char>(moved.bytes()[99'999]), 'x');
  EXPECT_FALSE(moved.has_lost_bytes());

  ASSERT_EQ(truncate(path.c_str(), 5000), 0);
  EXPECT_EQ(static_cast<char>(moved.bytes()[4999]), 'x');
  EXPECT_FALSE(moved.has_lost_bytes());
  EXPECT_EQ(static_cast<char>(moved.bytes()[50'000]), '\0');
  EXPECT_TRUE(moved.has_lost_bytes());
  EXPECT_EQ(static_cast<char>(moved.bytes()[4999]), 'x');
  EXPECT_EQ(static_cast<char>(moved.bytes()[99'999]), '\0');
}

TEST(MappedFile, AnotherFilesCutIsNotItsOwn) {
  const std::string path = testing::TempDir() + "/one";
  const std::string other_path = testing::TempDir() + "/other";
  Overwrite(path, std::string(100'000, 'x'));
  Overwrite(other_path, std::string(100'000, 'y'));
  const auto mapped = MappedFile::Open(path);
  auto other = MappedFile::Open(other_path);
  ASSERT_TRUE(mapped.ok() && other.ok());
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(static_cast<char>(mapped->bytes()[0]), '\0');
  EXPECT_TRUE(mapped->has_lost_bytes());
  EXPECT_FALSE(other->has_lost_bytes());
  other = MappedFile();
  EXPECT_FALSE(other->has_lost_bytes());
}

TEST(MappedFile, KnowsWhetherItsFileWasWrittenTo) {
  const std::string path = testing::TempDir() + "/written";
  Overwrite(path, "first");
  const auto mapped = MappedFile::Open(path);
  ASSERT_TRUE(mapped.ok());
  EXPECT_FALSE(mapped->HasChanged());
  Overwrite(path, "longer");
  EXPECT_TRUE(mapped->HasChanged());
}

TEST(MappedFile, AFileThatWasReplacedIsTheOldOneStill) {
  const std::string path = testing::TempDir() + "/replaced";
  Overwrite(path, "first");
  const auto mapped = MappedFile::Open(path);
  ASSERT_TRUE(mapped.ok());
  Overwrite(path + ".new", "longer");
  ASSERT_EQ(rename((path + ".new").c_str(), path.c_str()), 0);
  EXPECT_FALSE(mapped->HasChanged());
  EXPECT_EQ(TextOf(mapped->bytes()), "first");
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_FALSE(mapped->HasChanged());
}

// Returns how much of the file's mapping is in this process's memory, for example "Rss: 100 kB".
std::string ResidentOf(const MappedFile& file) {
  std::ifstream maps("/proc/self/smaps");
  const std::string start = absl::StrCat(
      absl::Hex(reinterpret_cast<uintptr_t>(file.bytes().data()), absl::kZeroPad8), "-");
  bool is_of_file = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.starts_with(start)) is_of_file = true;
    if (is_of_file && line.starts_with("Rss:")) return line.substr(line.find_first_not_of(' ', 4));
  }
  return "not mapped";
}

TEST(MappedFile, TakesNoMemoryWhenItWasForgottenAndIsReadAnewWhenItIsTouched) {
  constexpr size_t kSize = 1 << 20;
  const std::string path = testing::TempDir() + "/forgotten", cut = testing::TempDir() + "/short";
  Overwrite(path, std::string(kSize, 'x'));
  Overwrite(cut, std::string(kSize, 'x'));
  const auto mapped = MappedFile::Open(path), other = MappedFile::Open(cut);
  ASSERT_TRUE(mapped.ok() && other.ok());
  ASSERT_EQ(truncate(cut.c_str(), 0), 0);
  EXPECT_EQ(static_cast<char>(other->bytes()[0]), '\0');
  for (const bool all : {false, true}) {
    EXPECT_EQ(static_cast<char>(mapped->bytes()[kSize - 1]), 'x');
    EXPECT_NE(ResidentOf(*mapped), "0 kB");
    if (all) MappedFile::ForgetAll();
    if (!all) MappedFile::Forget(mapped->bytes());
    EXPECT_EQ(ResidentOf(*mapped), "0 kB");
  }
  EXPECT_FALSE(mapped->has_lost_bytes());
  EXPECT_EQ(static_cast<char>(other->bytes()[0]), '\0');
}

TEST(MappedFile, NothingIsForgottenOfMemoryThatIsNoFiles) {
  const std::string text(100'000, 'y');
  MappedFile::Forget(BytesOfText(text));
  EXPECT_EQ(text, std::string(100'000, 'y'));
}

TEST(MappedFileDeathTest, OtherBadAccessesEndTheProgramAsBefore) {
  const std::string path = testing::TempDir() + "/unguarded";
  Overwrite(path, std::string(100'000, 'x'));
  const auto guarded = MappedFile::Open(path);
  ASSERT_TRUE(guarded.ok());
  EXPECT_DEATH(
      {
        const int fd = open(path.c_str(), O_RDONLY);
        const auto* bytes = static_cast<const volatile char*>(
            mmap(nullptr, 100'000, PROT_READ, MAP_PRIVATE, fd, 0));
        if (truncate(path.c_str(), 0) != 0) _exit(0);
        static_cast<void>(bytes[0]);
      },
      "");
}

TEST(UniqueFd, ClosesOnce) {
  int raw = open("/dev/null", O_RDONLY);
  {
    UniqueFd a(raw);
    UniqueFd b = std::move(a);
    EXPECT_FALSE(a.valid());  // NOLINT: a moved-from UniqueFd is empty
    EXPECT_EQ(b.get(), raw);
  }
  EXPECT_EQ(fcntl(raw, F_GETFD), -1);
}

TEST(BuildIdInNotes, IsFoundBehindOtherNotesAndNotInCutOnes) {
  const std::string notes(
      "\4\0\0\0\3\0\0\0\1\0\0\0Xen\0abc\0"
      "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xde\xad\xbe\xef",
      40);
  EXPECT_EQ(TextOf(BuildIdInNotes(BytesOfText(notes))), "\xde\xad\xbe\xef");
  for (size_t size = 0; size < notes.size(); ++size) {
    EXPECT_TRUE(BuildIdInNotes(BytesOfText(notes).first(size)).empty()) << size;
  }
}

TEST(BuildIdInNotes, IsNoneWhereItIsTooLong) {
  for (const size_t size : {kMostBuildId, kMostBuildId + 1}) {
    std::string notes("\4\0\0\0\0\0\0\0\3\0\0\0GNU\0", 16);
    notes[4] = static_cast<char>(size);
    notes.append(size, '\7');
    EXPECT_EQ(BuildIdInNotes(BytesOfText(notes)).empty(), size > kMostBuildId);
  }
}

TEST(HugeVectorTest, KeepsItsItemsAsItGrows) {
  HugeVector<uint64_t> items;
  for (uint64_t i = 0; i < 600'000; ++i) items.push_back(i * i);
  const HugeVector<uint64_t> copy = items;
  items = {};
  for (uint64_t i = 0; i < copy.size(); ++i) ASSERT_EQ(copy[i], i * i);
}

TEST(HugeVectorTest, CanBeFilledAgainAfterItWasMoved) {
  constexpr uint64_t kMany = kHugePage / sizeof(uint64_t);
  HugeVector<uint64_t> items(kMany, 1);
  const HugeVector<uint64_t> moved = std::move(items);
  for (uint64_t i = 0; i < 2 * kMany; ++i) items.push_back(i);
  EXPECT_EQ(moved[kMany - 1], 1u);
  EXPECT_EQ(items[2 * kMany - 1], 2 * kMany - 1);
}

TEST(HugeVectorTest, ThrowsIfThereIsNoMemoryAndStaysValid) {
  HugeVector<uint64_t> items(kHugePage, 7);
  EXPECT_THROW(items.reserve(SIZE_MAX / sizeof(uint64_t)), std::bad_alloc);
  EXPECT_THROW(items.reserve(SIZE_MAX), std::bad_alloc);
  EXPECT_EQ(items[kHugePage - 1], 7u);
}

TEST(HugeVectorTest, WhatIsFreedDoesNotComeBackAsZeros) {
  constexpr size_t kMany = 1 << 20;
  HugeVector<uint64_t>(kMany, 7);
  auto zeros = HugeVector<uint64_t>::Zeros(kMany / 2);
  zeros.resize(kMany);
  for (size_t i = 0; i < kMany; ++i) ASSERT_EQ(zeros[i], 0u) << i;
}

}  // namespace
}  // namespace profiler
