#include "symbolize/symbols/perf_map.h"

#include <random>

#include "absl/strings/str_format.h"
#include "src/base/regular_file.h"
#include "symbolize/testing/test_files.h"

namespace profiler::symbolize {
namespace {

PerfMap Parse(std::string_view text) { return PerfMap::Parse(NulTerminated(text)); }

std::string NameAt(const PerfMap& map, uint64_t address) {
  const PerfMap::Function* function = map.Find(address);
  return function == nullptr ? "-" : std::string(function->name);
}

TEST(PerfMapTest, NamesMayHaveSpaces) {
  const PerfMap map = Parse(
      "7f0000001000 20 LazyCompile:~add file.js:3\n"
      "0x7f0000002000 0x10 with_prefixes\r\n");
  EXPECT_EQ(NameAt(map, 0x7f0000001000), "LazyCompile:~add file.js:3");
  EXPECT_EQ(NameAt(map, 0x7f000000101f), "LazyCompile:~add file.js:3");
  EXPECT_EQ(NameAt(map, 0x7f0000001020), "-");
  EXPECT_EQ(NameAt(map, 0x7f000000200f), "with_prefixes");
}

TEST(PerfMapTest, ALaterLineReplacesWhatItOverlaps) {
  const PerfMap map = Parse(
      "100 100 old\n"
      "140 20 new\n"
      "150 8 newest\n");
  EXPECT_EQ(NameAt(map, 0x13f), "old");
  EXPECT_EQ(NameAt(map, 0x140), "new");
  EXPECT_EQ(NameAt(map, 0x150), "newest");
  EXPECT_EQ(NameAt(map, 0x158), "new");
  EXPECT_EQ(NameAt(map, 0x160), "old");
  EXPECT_EQ(map.Find(0x160)->start, 0x100u);
  EXPECT_EQ(map.Find(0x160)->size, 0x100u);
}

TEST(PerfMapTest, UnreadableLinesAreSkipped) {
  const PerfMap map = Parse(
      "\n"
      "zzz 10 bad_start\n"
      "100\n"
      "100 10\n"
      "100 10 \n"
      "100 0 empty\n"
      "ffffffffffffffff 10 wraps\n"
      "200 10 good\n"
      "300 10 cut_off");
  EXPECT_EQ(NameAt(map, 0x100), "-");
  EXPECT_EQ(NameAt(map, 0xffffffffffffffff), "-");
  EXPECT_EQ(NameAt(map, 0x200), "good");
  EXPECT_EQ(NameAt(map, 0x300), "cut_off");
}

TEST(PerfMapTest, AgreesWithAModelOfSingleBytes) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> model(64, "-");
    std::string text;
    for (int line = 0; line < 12; ++line) {
      const auto start = random() % 60;
      const auto size = random() % (64 - start);
      const std::string name = absl::StrFormat("f%d", line);
      text += absl::StrFormat("%x %x %s\n", start, size, name);
      for (size_t i = start; i < start + size; ++i) model[i] = name;
    }
    const PerfMap map = Parse(text);
    for (size_t i = 0; i < model.size(); ++i) ASSERT_EQ(NameAt(map, i), model[i]) << text;
  }
}

// Formats the first four functions as "names, cut".
std::string FirstFour(const absl::StatusOr<PerfMap>& map) {
  if (!map.ok()) return map.status().ToString();
  std::string text;
  for (const uint64_t address : {0x10, 0x20, 0x30, 0x40}) text += NameAt(*map, address) + " ";
  return text + (map->is_cut() ? "cut" : "whole");
}

TEST(PerfMapTest, OfAMapWithoutEndTheFirstFunctionsAreRead) {
  const std::string text = "10 10 a\n20 10 b\n30 10 c\n40 10 d\n";
  EXPECT_EQ(FirstFour(PerfMap::Parse(NulTerminated(text), 4)), "a b c d whole");
  EXPECT_EQ(FirstFour(PerfMap::Parse(NulTerminated(text), 3)), "a b c - cut");
}

TEST(PerfMapTest, OfAFileWithoutEndTheWholeLinesAtTheBeginningAreRead) {
  const std::string path = TestDirectory() + "/perf-2.map";
  WriteFile(path, "10 10 first\n20 10 second\n30 10 third\n");
  const auto read = [&](size_t most_bytes) {
    const auto file = OpenRegularFile(path);
    return FirstFour(PerfMap::Read(file->get(), path, most_bytes));
  };
  EXPECT_EQ(read(37), "first second third - whole");
  EXPECT_EQ(read(36), "first second third - cut");
  EXPECT_EQ(read(35), "first second - - cut");
  EXPECT_EQ(read(24), "first second - - cut");
  EXPECT_EQ(read(23), "first - - - cut");
  EXPECT_EQ(read(3), "- - - - cut");
}

TEST(PerfMapTest, IsReadFromAFile) {
  const std::string path = TestDirectory() + "/perf-2.map";
  WriteFile(path, "10 10 f\n");
  const auto file = OpenRegularFile(path);
  ASSERT_TRUE(file.ok());
  const auto map = PerfMap::Read(file->get(), path);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(NameAt(*map, 0x10), "f");
}

}  // namespace
}  // namespace profiler::symbolize
