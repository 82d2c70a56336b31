#include "src/fleet/agent/host_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_cat.h"

namespace profiler::agent {
namespace {

using testing::HasSubstr;

std::string Text(const HostLabels& labels) {
  std::string text;
  for (const auto& [key, value] : labels) absl::StrAppend(&text, key, "=", value, ";");
  return text;
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(AddLabel, KeepsThemSortedAndEachKeyOnce) {
  HostLabels labels;
  for (const char* text : {"region=eu", "az=1", "region = us ", "team/owner=a=b", "empty="}) {
    ASSERT_TRUE(AddLabel(text, labels).ok()) << text;
  }
  EXPECT_EQ(Text(labels), "az=1;empty=;region=us;team/owner=a=b;");
}

TEST(AddLabel, QuotesWhatIsWrong) {
  HostLabels labels;
  EXPECT_EQ(Message(AddLabel("region", labels)),
            "label 'region': has no =; write KEY=VALUE, such as region=eu");
  EXPECT_THAT(Message(AddLabel("=x", labels)), HasSubstr("has no key"));
  EXPECT_THAT(Message(AddLabel("a b=x", labels)), HasSubstr("may contain"));
  EXPECT_THAT(Message(AddLabel("a=x\x01y", labels)), HasSubstr("'a=x?y': has control"));
  EXPECT_THAT(Message(AddLabel(std::string(2000, 'x'), labels)), HasSubstr("is longer"));
  EXPECT_EQ(Text(labels), "");
}

TEST(AddLabel, TakesNoNameThatSamplesHaveAlready) {
  HostLabels labels;
  EXPECT_THAT(Message(AddLabel("service=web", labels)),
              HasSubstr("already has a field of this name"));
}

TEST(AddLabelsOf, ReadsALabelALine) {
  const std::string path = testing::TempDir() + "/labels";
  std::ofstream(path) << "# of this rack\n\nrack = 7\r\nregion=eu\n";
  HostLabels labels;
  ASSERT_TRUE(AddLabelsOf(path, labels).ok());
  EXPECT_EQ(Text(labels), "rack=7;region=eu;");
}

TEST(AddLabelsOf, SaysWhichLineIsWrong) {
  const std::string path = testing::TempDir() + "/wrong";
  std::ofstream(path) << "rack=7\nregion\n";
  HostLabels labels;
  EXPECT_EQ(Message(AddLabelsOf(path, labels)),
            path + ":2: label 'region': has no =; write KEY=VALUE, such as region=eu");
  EXPECT_TRUE(absl::IsNotFound(AddLabelsOf(path + ".none", labels)));
}

}  // namespace
}  // namespace profiler::agent
