#include "src/views/report/paired_report.h"

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::report {
namespace {

using profile::HandmadeProfile;

class PairedReportTest : public testing::Test {
 protected:
  PairedReportTest() {
    before_.Event("cpu-clock");
    before_.Sample("app", {"main@app", "parse@app"}, 30).Sample("app", {"old@app"}, 10);
    before_.Sample("app", {"memset@[kernel.kallsyms]"}, 60);
    after_.Event("cpu-clock");
    after_.Sample("app", {"main@app", "parse@app"}, 35).Sample("app", {"new@libnew.so"}, 5);
    after_.Sample("app", {"memset@[kernel.kallsyms]"}, 60);
  }

  HandmadeProfile before_, after_;
};

TEST_F(PairedReportTest, ShowsTheSharesOfTheFirstAndHowTheSecondDiffers) {
  EXPECT_EQ(FormatPairedReport(before_.profile(), after_.profile(), PairedOrder::kDifference),
            "# Event 'cpu-clock'\n"
            "#\n"
            "# Baseline  Delta Abs  Shared Object      Symbol    \n"
            "# ........  .........  .................  ..........\n"
            "#\n"
            "    30.00%     +5.00%  app                [.] parse\n"
            "               +5.00%  libnew.so          [.] new\n"
            "    60.00%             [kernel.kallsyms]  [k] memset\n"
            "    10.00%             app                [.] old\n");
}

TEST_F(PairedReportTest, CanGoByTheSharesOfTheFirst) {
  const std::string text =
      FormatPairedReport(before_.profile(), after_.profile(), PairedOrder::kBaseline);
  EXPECT_LT(text.find("memset"), text.find("parse"));
  EXPECT_LT(text.find("parse"), text.find("old"));
  EXPECT_LT(text.find("old"), text.find("new"));
}

TEST_F(PairedReportTest, EventsOfOneRecordingAloneAreLeftOut) {
  before_.Event("page-faults").Sample("app", {"main@app"});
  const std::string text =
      FormatPairedReport(before_.profile(), after_.profile(), PairedOrder::kDifference);
  EXPECT_EQ(text.find("page-faults"), std::string::npos);
}

}  // namespace
}  // namespace profiler::report
