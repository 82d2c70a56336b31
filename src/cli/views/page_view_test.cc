#include "src/cli/views/page_view.h"

#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "src/cli/command.h"
#include "src/format/perf_data/testing/recording_builder.h"

namespace profiler::cli {
namespace {

std::string ContentOf(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

struct Written {
  int exit_code = 0;
  std::string said;
};

Written Write(const std::string& recording, const PageRequest& request) {
  ViewArguments view;
  view.input = recording;
  testing::internal::CaptureStderr();
  const int exit_code = WritePage(view, request);
  return {exit_code, testing::internal::GetCapturedStderr()};
}

class PageViewTest : public testing::Test {
 protected:
  PageViewTest() { perf_data::WriteUsualRecording(recording_); }

  const std::string recording_ = perf_data::TestPath("recording");
  const std::string output_ = perf_data::TestPath("x.html");
};

TEST_F(PageViewTest, WritesOneFileAndSaysWhatIsInIt) {
  const Written written = Write(recording_, {.output = output_});
  EXPECT_EQ(written.exit_code, kExitOk);
  EXPECT_NE(written.said.find("x.html: 0.1 MB, "), std::string::npos) << written.said;
  EXPECT_EQ(written.said.find("source"), std::string::npos) << written.said;
  const std::string page = ContentOf(output_);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
}

TEST_F(PageViewTest, SaysThatSourceLinesAreInIt) {
  const Written written = Write(recording_, {.output = output_, .source = true});
  EXPECT_NE(written.said.find("with the text of 0 source lines"), std::string::npos)
      << written.said;
}

TEST_F(PageViewTest, RefusesEventsAndFunctionsThatAreNotThere) {
  const Written event = Write(recording_, {.output = output_, .event = "nosuch"});
  EXPECT_EQ(event.exit_code, kExitUsage);
  EXPECT_NE(event.said.find("nosuch"), std::string::npos) << event.said;
  const Written function = Write(recording_, {.output = output_, .function = "nosuch"});
  EXPECT_EQ(function.exit_code, kExitFailure);
  EXPECT_NE(function.said.find("nosuch"), std::string::npos) << function.said;
}

TEST_F(PageViewTest, NeverTakesThePlaceOfARecording) {
  const std::string before = ContentOf(recording_);
  EXPECT_EQ(Write(recording_, {.output = recording_}).exit_code, kExitUsage);
  EXPECT_EQ(ContentOf(recording_), before);
}

TEST_F(PageViewTest, SourceLinesAreForPagesAlone) {
  EXPECT_TRUE(CheckSource(true, "x.html").ok());
  EXPECT_TRUE(CheckSource(false, "x.svg").ok());
  EXPECT_EQ(CheckSource(true, "x.svg").message(), "--source needs a page; add -o FILE.html");
}

}  // namespace
}  // namespace profiler::cli
