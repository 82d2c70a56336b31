#include "symbolize/python/line_table.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/base/byte_reader.h"

namespace profiler::symbolize::python {
namespace {

std::string Lines(LineFormat format, std::initializer_list<int> table, uint32_t code_size,
                  int32_t first_line = 10) {
  std::string bytes;
  for (const int byte : table) bytes.push_back(static_cast<char>(byte));
  std::string text;
  for (const Line& line : DecodeLines(format, BytesOfText(bytes), first_line, code_size)) {
    absl::StrAppend(&text, text.empty() ? "" : " ", line.offset, ":", line.line);
  }
  return text;
}

TEST(LineTableTest, AStepBeginsALineAtAnOffset) {
  EXPECT_EQ(Lines(LineFormat::kSteps, {0, 1, 4, 2, 6, 0xff}, 20), "0:11 4:13 10:12");
}

TEST(LineTableTest, LongStepsTakeSeveralEntries) {
  EXPECT_EQ(Lines(LineFormat::kSteps, {255, 0, 45, 127, 0, 73}, 400), "0:10 300:210");
}

TEST(LineTableTest, StepsAfterTheCodeAreLeftOut) {
  EXPECT_EQ(Lines(LineFormat::kSteps, {4, 1, 16, 1}, 20), "0:10 4:11");
}

TEST(LineTableTest, ARangeMayHaveNoLine) {
  EXPECT_EQ(Lines(LineFormat::kRanges, {4, 1, 2, 0x80, 6, 0xfe}, 12), "0:11 4:0 6:9");
}

TEST(LineTableTest, ARangeOfNoBytesChangesTheLineOfTheNext) {
  EXPECT_EQ(Lines(LineFormat::kRanges, {0, 100, 0, 100, 8, 1}, 8), "0:211");
}

TEST(LineTableTest, CodeAfterTheLastRangeHasNoLine) {
  EXPECT_EQ(Lines(LineFormat::kRanges, {4, 1}, 12), "0:11 4:0");
}

TEST(LineTableTest, LocationsOfAllKindsAreRead) {
  EXPECT_EQ(Lines(LineFormat::kLocations,
                  {0x80 | 0 << 3 | 1, 0x12,                  // short: the same line, 2 units
                   0x80 | 11 << 3 | 0, 1, 2,                 // one line further
                   0x80 | 13 << 3 | 0, 0x05,                 // no columns: −2
                   0x80 | 14 << 3 | 2, 0x48, 0x01, 0, 1, 1,  // long: +36, 3 units
                   0x80 | 15 << 3 | 0},                      // none
                  16),
            "0:10 4:11 6:9 8:45 14:0");
}

TEST(LineTableTest, GarbageEndsTheTable) {
  EXPECT_EQ(Lines(LineFormat::kLocations, {0x80, 0, 0x12, 0x80}, 16), "0:10 2:0");
  EXPECT_EQ(Lines(LineFormat::kLocations, {0x80 | 14 << 3, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f}, 16),
            "0:0");
  EXPECT_EQ(Lines(LineFormat::kRanges, {4}, 16), "0:0");
  EXPECT_EQ(Lines(LineFormat::kSteps, {4}, 16), "0:10");
  EXPECT_EQ(Lines(LineFormat::kSteps, {}, 0), "");
}

TEST(LineTableTest, ALineIsNeverNegative) {
  EXPECT_EQ(Lines(LineFormat::kSteps, {0, 0x80, 2, 0x80}, 16, -2147483647), "0:0");
}

TEST(LineTableTest, AnInstructionHasTheLineThatBeganLast) {
  const std::vector<Line> lines = {{0, 11}, {4, 0}, {6, 9}};
  EXPECT_EQ(FindLine(lines, 0), 11u);
  EXPECT_EQ(FindLine(lines, 3), 11u);
  EXPECT_EQ(FindLine(lines, 5), 0u);
  EXPECT_EQ(FindLine(lines, 1000), 9u);
  EXPECT_EQ(FindLine({}, 0), 0u);
}

}  // namespace
}  // namespace profiler::symbolize::python
