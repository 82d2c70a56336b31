#include "src/cli/terminal/line_fitter.h"

#include <string>

#include "gtest/gtest.h"

namespace profiler::cli {
namespace {

// Returns the lines of `text`, which end with "\n", as they are shown in `columns`.
std::string Shown(std::string_view text, size_t columns) {
  LineFitter fitter(columns);
  std::string shown;
  const auto add = [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) shown += line + "\n";
  };
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    add(fitter.Add(text.substr(0, end)));
  }
  add(fitter.Finish());
  return shown;
}

constexpr char kTable[] =
    "# Overhead  Shared Object             Symbol                    \n"
    "# ........  ........................  ..........................\n"
    "#\n"
    "    50.00%  libpython3.11.so.1.0.0.0  [.] take_the_next_instruct\n"
    "            |--50.00%--main_of_the_program_that_runs_everything_\n"
    "    50.00%  app                       [.] f\n";

TEST(LineFitterTest, SentencesInCommentsAreWrapped) {
  EXPECT_EQ(Shown("# changes smaller than 14.86 points of the whole may go unnoticed\n", 40),
            "# changes smaller than 14.86 points of\n"
            "#   the whole may go unnoticed\n");
}

TEST(LineFitterTest, TheWidestColumnsBecomeNarrowerUntilNamesHaveRoom) {
  EXPECT_EQ(Shown(kTable, 56),
            "# Overhead  Shared Object     Symbol\n"
            "# ........  ................  ..........................\n"
            "#\n"
            "    50.00%  libpytho…1.0.0.0  [.] take_the_next_instruct\n"
            "            |--50.00%--main_of_the_prog…runs_everything_\n"
            "    50.00%  app               [.] f\n");
}

TEST(LineFitterTest, ColumnsOfNumbersKeepAllDigits) {
  EXPECT_EQ(Shown("# Before  Change in points  Function                      \n"
                  "# ......  ................  ..............................\n"
                  "  61.65%     +17.52 ± 3.76  HashOf_a_word_of_the_whole_text\n",
                  44),
            "# Before  Change in points  Function\n"
            "# ......  ................  ................\n"
            "  61.65%     +17.52 ± 3.76  …_the_whole_text\n");
}

TEST(LineFitterTest, TablesThatFitAndPipesStayAsTheyAre) {
  EXPECT_EQ(Shown(kTable, 80), kTable);
  EXPECT_EQ(Shown(kTable, 0), kTable);
}

TEST(LineFitterTest, AHeadingWithoutATableIsShown) {
  EXPECT_EQ(Shown("# one  two\nx\n", 40), "# one  two\nx\n");
  EXPECT_EQ(Shown("# one  two\n", 40), "# one  two\n");
}

TEST(WithNarrowCommentsTest, MovesAllCommentsLeftUntilTheLongestFits) {
  constexpr char kCounts[] =
      "        365.95 msec task-clock          #    0.666 CPUs utilized  \n"
      "            65      context-switches    #  177.621 /sec\n"
      "   <not supported>  cycles\n";
  EXPECT_EQ(WithNarrowComments(kCounts, 60),
            "        365.95 msec task-clock        #    0.666 CPUs utilized\n"
            "            65      context-switches  #  177.621 /sec\n"
            "   <not supported>  cycles\n");
  EXPECT_EQ(WithNarrowComments(kCounts, 0), kCounts);
  EXPECT_EQ(WithNarrowComments(kCounts, 80), kCounts);
}

}  // namespace
}  // namespace profiler::cli
