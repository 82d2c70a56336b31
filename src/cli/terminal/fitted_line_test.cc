#include "src/cli/terminal/fitted_line.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "src/terminal/columns.h"

namespace profiler::cli {
namespace {

using terminal::ColumnsOf;

TEST(FittedLineTest, ALineThatFitsStaysAsItIs) {
  EXPECT_EQ(FittedLine("f(int, char)", 12), "f(int, char)");
  EXPECT_EQ(FittedLine("f(int, char)", 0), "f(int, char)");
  EXPECT_EQ(FittedLine("", 1), "");
}

TEST(FittedLineTest, ParametersAreLeftOutFirst) {
  EXPECT_EQ(FittedLine("    50.00%  app  [.] f(int, char)", 32), "    50.00%  app  [.] f(…)");
  EXPECT_EQ(FittedLine("operator()(int, g(char)) const+0x1", 30), "operator()(…) const+0x1");
  EXPECT_EQ(FittedLine("f<void (*)(int)>(char, int) g(long, long)", 40),
            "f<void (*)(…)>(char, int) g(long, long)");
}

TEST(FittedLineTest, WhatIsNoParameterListStays) {
  EXPECT_EQ(FittedLine("\t    7f01 f(int)+0x4 (/usr/lib/lib.so)", 44),
            "\t    7f01 f(…)+0x4 (/usr/lib/lib.so)");
  EXPECT_EQ(FittedLine("# 4 (a b) of f(int", 17), "# 4 (a b…of f(int");
}

TEST(FittedLineTest, ThenTheMiddleOfTheLastPieceIsLeftOut) {
  EXPECT_EQ(FittedLine("    50.00%  app  a_rather_long_name_of_a_function", 36),
            "    50.00%  app  a_rather_…_function");
  EXPECT_EQ(FittedLine("            |--12.00%--a_rather_long_name_of_a_function", 38),
            "            |--12.00%--a_rathe…unction");
}

TEST(FittedLineTest, APieceTooShortToBeCutLeavesThatToTheOneBefore) {
  EXPECT_EQ(FittedLine("50.00%  a_rather_long_name_of_a_function  main", 40),
            "50.00%  a_rather_long_na…_function  main");
}

TEST(FittedLineTest, NothingIsMissingWhereBlanksAndRulesAreCut) {
  EXPECT_EQ(FittedLine("# Overhead  Symbol          ", 20), "# Overhead  Symbol");
  EXPECT_EQ(FittedLine("# ........  ..............................", 20), "# ........  ........");
  EXPECT_EQ(FittedLine("----------", 4), "----");
}

TEST(FittedLineTest, WideCharactersAreNotCutInHalf) {
  const std::string fitted = FittedLine("漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字", 21);
  EXPECT_LE(ColumnsOf(fitted), 21u);
  EXPECT_EQ(fitted, "漢字漢字漢…字漢字漢字");
}

TEST(FittedLineTest, OfAnEndlessLineTheStartIsShown) {
  std::string line;
  for (int i = 0; i < 100'000; ++i) line += "f(x)  ";
  EXPECT_EQ(FittedLine(line, 10), "f(x)  f(x…");
}

TEST(FittedLineTest, NoLineIsWiderThanTheTerminal) {
  const std::string lines[] = {std::string(300, 'x'), std::string(300, '\t'), std::string(300, '('),
                               "\tab\t" + std::string(200, ' ') + "z",
                               "f(" + std::string(300, 'y') + ")漢字\xff\x80\t漢字  a  b"};
  for (const std::string& line : lines) {
    for (size_t columns = 1; columns < 100; ++columns) {
      EXPECT_LE(ColumnsOf(FittedLine(line, columns)), columns) << line;
    }
  }
}

std::string Painted(std::string_view line) {
  std::string text = PaintedLine(line);
  std::replace(text.begin(), text.end(), '\033', '^');
  return text;
}

TEST(PaintedLineTest, PercentagesAreRedOrGreenByTheirWeight) {
  EXPECT_EQ(Painted("   100.00%     5.00%  app  f"),
            "   ^[31m100.00%^[m     ^[31m5.00%^[m  app  f");
  EXPECT_EQ(Painted("     4.99%     0.50%  app"), "     ^[32m4.99%^[m     ^[32m0.50%^[m  app");
  EXPECT_EQ(Painted("     0.49%  app"), "     0.49%  app");
}

TEST(PaintedLineTest, PercentagesOfCallGraphsAreColoured) {
  EXPECT_EQ(Painted("            |          |--12.00%--f"),
            "            |          |--^[31m12.00%^[m--f");
  EXPECT_EQ(Painted("            ---main"), "            ---main");
}

TEST(PaintedLineTest, PercentagesOfInstructionsAreColoured) {
  EXPECT_EQ(Painted("  100.00 :   1156:  add"), "  ^[31m100.00^[m :   1156:  add");
  EXPECT_EQ(Painted("    0.00 :   1156:  add"), "    0.00 :   1156:  add");
}

TEST(PaintedLineTest, OtherNumbersStayAsTheyAre) {
  for (const std::string_view line : {"# Total: 50.00%", "app  50.00%", "    12.00 app", "1234.00%",
                                      "50.000%", "50%", "50.", ""}) {
    EXPECT_EQ(Painted(line), line);
  }
}

}  // namespace
}  // namespace profiler::cli
