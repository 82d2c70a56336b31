#include "src/profile/naming/embed_names.h"

#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/testing/recording_builder.h"

namespace profiler::naming {
namespace {

using perf_data::TestPath;

bool HasNames(const std::string& path) {
  const auto recording = perf_data::Recording::Open(path);
  EXPECT_TRUE(recording.ok()) << recording.status();
  return recording.ok() && (*recording)->features().other.count(perf_data::kFeatureNames) != 0;
}

// If other users may rename files, another file may have the recording's name by now.
TEST(EmbedNames, ReadsAndChangesTheFileThatWasWrittenWhateverHasItsNameByNow) {
  const std::string path = TestPath("recorded.data");
  const std::string moved = TestPath("moved.data");
  const auto writer = perf_data::WriteUsualRecording(path);
  ASSERT_EQ(std::rename(path.c_str(), moved.c_str()), 0);
  perf_data::WriteFile(path, std::as_bytes(std::span(std::string_view("no recording"))));

  const auto named = EmbedNames(*writer, path, Embedding::kNames, {},
                                [](std::string_view, size_t, size_t) { return true; });

  EXPECT_TRUE(named.ok()) << named.status();
  EXPECT_TRUE(HasNames(moved));
  EXPECT_EQ(perf_data::ReadFile(path).size(), std::string_view("no recording").size());
}

TEST(EmbedNames, SaysThatADeviceCannotBeReadAgain) {
  const auto writer = perf_data::WriteUsualRecording("/dev/null");
  const auto named = EmbedNames(*writer, "/dev/null", Embedding::kNames, {},
                                [](std::string_view, size_t, size_t) { return true; });
  EXPECT_EQ(named.status().message(), "/dev/null: cannot be read again");
}

TEST(EmbedNames, SaysWhichNamesOfTwoLanguagesAreMissing) {
  const auto writer = perf_data::WriteUsualRecording(TestPath("two_languages.data"));
  CollectedNames collected;
  collected.node.emplace();
  collected.python.emplace();
  const auto named = EmbedNames(*writer, collected);
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_TRUE(named->missing.ends_with(analysis::RemedyText(*collected.node))) << named->missing;
  EXPECT_TRUE(named->missing_python.ends_with(analysis::RemedyText(*collected.python)))
      << named->missing_python;
}

}  // namespace
}  // namespace profiler::naming
