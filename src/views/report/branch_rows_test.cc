#include <string>

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"
#include "src/views/report/report.h"
#include "src/views/report/testing/format_report.h"

namespace profiler::report {
namespace {

using profile::BranchOutcome;
using profile::HandmadeProfile;

// Returns a profile with three branches of app and one of sh, besides one sample.
HandmadeProfile SomeBranches() {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app"})
      .Branch("app", "main+0x10@app", "read@libc.so.6", 2, 7)
      .Branch("app", "main+0x20@app", "read@libc.so.6", 1, 7)
      .Branch("app", "read+0x8@libc.so.6", "0x0", 1)
      .Branch("sh", "0x1234@sh", "main@app", 4, 12, BranchOutcome::kMispredicted);
  return builder;
}

std::string RowsBy(HandmadeProfile builder, const char* keys, ReportOptions options = {}) {
  options.branch_sort = *ParseSortKeys(keys);
  const std::string text = FormatReport(builder.profile(), options);
  return text.substr(text.find("# Event count"));
}

TEST(BranchesTest, RowsAreBranchesBySourceAndTarget) {
  EXPECT_EQ(
      FormatReport(SomeBranches().profile(), {}),
      "#\n"
      "# Total Lost Samples: 0\n"
      "#\n"
      "# Samples: 1  of event 'cpu-clock'\n"
      "# Event count (approx.): 8\n"
      "#\n"
      "# Overhead  Command  Source Shared Object  Source Symbol           Target Symbol         "
      "  Basic Block Cycles\n"
      "# ........  .......  ....................  ......................  ......................"
      "  ..................\n"
      "#\n"
      "    50.00%  sh       sh                    [.] 0x0000000000001234  [.] main              "
      "  12                \n"
      "    37.50%  app      app                   [.] main                [.] read              "
      "  7                 \n"
      "    12.50%  app      libc.so.6             [.] read                [H] 0000000000000000  "
      "  -                 \n"
      "\n\n");
}

TEST(BranchesTest, RowsTellApartWhatTheProcessorHadGuessed) {
  EXPECT_EQ(RowsBy(SomeBranches(), "mispredict", {.show_samples = true}),
            "# Event count (approx.): 8\n"
            "#\n"
            "# Overhead       Samples  Branch Mispredicted\n"
            "# ........  ............  ...................\n"
            "#\n"
            "    50.00%             4  N                  \n"
            "    50.00%             4  Y                  \n"
            "\n\n");
}

TEST(BranchesTest, RowsOfOneWeightAreInTheOrderOfTheKeys) {
  EXPECT_EQ(RowsBy(SomeBranches(), "dso_to,comm"),
            "# Event count (approx.): 8\n"
            "#\n"
            "# Overhead  Target Shared Object  Command\n"
            "# ........  ....................  .......\n"
            "#\n"
            "    50.00%  app                   sh     \n"
            "    37.50%  libc.so.6             app    \n"
            "    12.50%  [unknown]             app    \n"
            "\n\n");
}

TEST(BranchesTest, AFilterLeavesBranchesOutAndTheTotalAsItIs) {
  EXPECT_EQ(RowsBy(SomeBranches(), "symbol_to", {.filter = {.comms = {"app"}}}),
            "# Event count (approx.): 8\n"
            "#\n"
            "# Overhead  Target Symbol         \n"
            "# ........  ......................\n"
            "#\n"
            "    37.50%  [.] read\n"
            "    12.50%  [H] 0000000000000000\n"
            "\n\n");
}

}  // namespace
}  // namespace profiler::report
