// Tests sort keys that are finer than a function, in whole reports.

#include <string>

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"
#include "src/views/report/report.h"
#include "src/views/report/testing/format_report.h"

namespace profiler::report {
namespace {

using profile::HandmadeProfile;

// Sets the source line of function `which` at the last frame.
void At(HandmadeProfile& b, std::string_view file, uint32_t line, size_t which = 0) {
  profile::Profile& profile = b.profile();
  profile::Line& at = profile.lines[profile.frames.back().first_line + which];
  at.file = profile.strings.Intern(file);
  at.line = line;
}

std::string Rows(HandmadeProfile& b, std::string_view sort, bool full_paths = false) {
  ReportOptions options{.sort = *ParseSortKeys(sort),
                        .call_graph = {.type = CallGraphType::kNone},
                        .full_source_paths = full_paths};
  const std::string text = FormatReport(b.profile(), options);
  return text.substr(text.find("\n# Overhead") + 1);
}

class PositionsTest : public testing::Test {
 protected:
  // Makes f at two lines of f.cc, g at one of another f.cc, and code without lines.
  PositionsTest() {
    b_.Sample("app", {"f@app"}, 3);
    At(b_, "/src/a/f.cc", 10);
    b_.Sample("app", {"f+0x8@app"}, 2);
    At(b_, "/src/a/f.cc", 12);
    b_.Sample("app", {"f+0xc@app"}, 2);
    At(b_, "/src/a/f.cc", 12);
    b_.Sample("app", {"g@app"}, 2);
    At(b_, "/src/b/f.cc", 10);
    b_.Sample("app", {"0x77@lib.so"});
  }

  // Returns code without known lines.
  static HandmadeProfile WithoutLines() {
    HandmadeProfile b;
    b.LinkedAt(0x400000).Sample("app", {"f+0x11@app"}, 4).Sample("app", {"f+0x22@app"}, 3);
    b.Sample("app", {"0x123@app"}, 2).Sample("app", {"0x77"});
    return b;
  }
  HandmadeProfile b_;
};

TEST_F(PositionsTest, SourceLinesAreRows) {
  EXPECT_EQ(Rows(b_, "srcline"),
            "# Overhead  Source:Line\n"
            "# ........  ...........\n"
            "#\n"
            "    50.00%  f.cc:10    \n"
            "    40.00%  f.cc:12    \n"
            "    10.00%  lib.so[77] \n"
            "\n\n");
}

TEST_F(PositionsTest, WithoutALineTheRowIsTheDistanceIntoTheFunctionOrTheImagesOwnAddress) {
  HandmadeProfile b = WithoutLines();
  EXPECT_EQ(Rows(b, "srcline"),
            "# Overhead  Source:Line\n"
            "# ........  ...........\n"
            "#\n"
            "    40.00%  f+17       \n"
            "    30.00%  f+34       \n"
            "    20.00%  app[400123]\n"
            "    10.00%  ??:0       \n"
            "\n\n");
}

TEST_F(PositionsTest, WhatOnlyStandsInForAFunctionsNameIsNoneInASourceLine) {
  HandmadeProfile b;
  b.Sample("app", {"app+0x1000+0x4@app"});
  b.profile().frames[0].unnamed = profile::Unnamed::kNoSymbol;
  EXPECT_NE(Rows(b, "srcline").find("  app[1004]"), std::string::npos) << Rows(b, "srcline");
}

TEST_F(PositionsTest, SourceLinesDivideFunctions) {
  EXPECT_EQ(Rows(b_, "symbol,srcline", true),
            "# Overhead  Symbol                  Source:Line   \n"
            "# ........  ......................  ..............\n"
            "#\n"
            "    40.00%  [.] f                   /src/a/f.cc:12\n"
            "    30.00%  [.] f                   /src/a/f.cc:10\n"
            "    20.00%  [.] g                   /src/b/f.cc:10\n"
            "    10.00%  [.] 0x0000000000000077  lib.so[77]    \n"
            "\n\n");
}

TEST_F(PositionsTest, SourceFilesAreRows) {
  EXPECT_EQ(Rows(b_, "srcfile"),
            "# Overhead  Source File\n"
            "# ........  ...........\n"
            "#\n"
            "    90.00%  f.cc       \n"
            "    10.00%  ??         \n"
            "\n\n");
  EXPECT_EQ(Rows(b_, "dso,srcfile", true),
            "# Overhead  Shared Object     Source File\n"
            "# ........  ................  ...........\n"
            "#\n"
            "    70.00%  app               /src/a/f.cc\n"
            "    20.00%  app               /src/b/f.cc\n"
            "    10.00%  lib.so            ??         \n"
            "\n\n");
}

TEST_F(PositionsTest, OffsetsDivideFunctions) {
  EXPECT_EQ(Rows(b_, "symoff"),
            "# Overhead  Symbol Offset\n"
            "# ........  .............\n"
            "#\n"
            "    30.00%  [.] f+0x0    \n"
            "    20.00%  [.] f+0x8    \n"
            "    20.00%  [.] f+0xc    \n"
            "    20.00%  [.] g+0x0    \n"
            "    10.00%  [.] 0x77     \n"
            "\n\n");
}

std::string AccumulatedRows(HandmadeProfile& b, std::string_view sort) {
  const std::string text = FormatReport(
      b.profile(), {.sort = *ParseSortKeys(sort), .call_graph = {.type = CallGraphType::kNone}});
  return text.substr(text.find("\n#\n   ") + 3);
}

TEST(PlacesOfInlinedCallsTest, EachFunctionOfAChainHasTheLineOfItsCall) {
  HandmadeProfile b;
  b.Sample("app", {"main@app", "inner<outer@app"});
  At(b, "in.h", 3, 0);
  At(b, "out.cc", 40, 1);
  EXPECT_EQ(AccumulatedRows(b, "srcline"),
            "   100.00%   100.00%  in.h:3     \n"
            "   100.00%     0.00%  main+0     \n"
            "   100.00%     0.00%  out.cc:40  \n"
            "\n\n");
}

TEST(PlacesOfInlinedCallsTest, ACallerIntoWhichACallWasInlinedHasTheLineOfThatCall) {
  HandmadeProfile b;
  b.Sample("app", {"inner<outer@app", "leaf@app"});
  At(b, "leaf.cc", 7);
  profile::Profile& profile = b.profile();
  for (const size_t line : {0, 1}) {
    profile.lines[profile.frames.front().first_line + line].file = profile.strings.Intern("a.cc");
    profile.lines[profile.frames.front().first_line + line].line = line == 0 ? 3 : 40;
  }
  EXPECT_EQ(AccumulatedRows(b, "srcline"),
            "   100.00%   100.00%  leaf.cc:7  \n"
            "   100.00%     0.00%  a.cc:3     \n"
            "   100.00%     0.00%  a.cc:40    \n"
            "\n\n");
}

TEST(PlacesOfInlinedCallsTest, ASampleCountsForTheFunctionAtTheInstructionsLine) {
  HandmadeProfile b;
  b.Sample("app", {"main@app", "inner<outer@app"});
  At(b, "in.h", 3, 0);
  At(b, "out.cc", 40, 1);
  EXPECT_EQ(AccumulatedRows(b, "symbol,srcline"),
            "   100.00%   100.00%  [.] outer  in.h:3     \n"
            "   100.00%     0.00%  [.] inner (inlined)  in.h:3     \n"
            "   100.00%     0.00%  [.] main   main+0     \n"
            "   100.00%     0.00%  [.] outer  out.cc:40  \n"
            "\n\n");
}

TEST(PlacesOfCallersTest, CallGraphsDoNotTellLinesApart) {
  HandmadeProfile b;
  b.Sample("app", {"main@app", "f@app"});
  At(b, "f.cc", 1);
  b.Sample("app", {"main+0x4@app", "f+0x4@app"});
  At(b, "f.cc", 2);
  ReportOptions options{.sort = *ParseSortKeys("dso,srcfile"), .children = false};
  const std::string text = FormatReport(b.profile(), options);
  EXPECT_EQ(text.substr(text.find("\n#\n   ") + 3),
            "   100.00%  app            f.cc       \n"
            "            |\n"
            "            ---f\n"
            "               main\n"
            "\n\n\n");
}

}  // namespace
}  // namespace profiler::report
