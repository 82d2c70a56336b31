// What a recording's samples add up to says the same as its records do: for every recording of the
// corpus, whoever recorded it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "src/export/folded.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/read/recording.h"
#include "src/perf_data/sections/own_sections.h"
#include "src/profile/profile_builder.h"
#include "src/profile/testing/fake_symbolizer.h"
#include "src/report/report.h"
#include "tests/conformance/corpus.h"

namespace profiler::conformance {
namespace {

using perf_data::Recording;
using perf_data::TimedRecord;
using profile::FakeSymbolizer;
using profile::Profile;
using profile::ProfileBuilder;

ProfileBuilder BuilderOf(const Recording& recording, FakeSymbolizer& symbolizer) {
  ProfileBuilder builder(symbolizer, {.keep_thread = false});
  for (const auto& event : recording.events()) builder.AddEvent(event.name, event.attr);
  return builder;
}

ProfileBuilder ReadAll(Recording& recording, FakeSymbolizer& symbolizer) {
  ProfileBuilder builder = BuilderOf(recording, symbolizer);
  for (const auto& entry : recording.features().build_ids) {
    builder.AddBuildId(entry.filename, entry.build_id);
  }
  recording
      .ForEach(
          Recording::Order::kTime,
          [&](const TimedRecord& timed) { builder.Add(timed.record, timed.event, timed.time); })
      .IgnoreError();  // what could be read is compared
  return builder;
}

std::string Report(const Profile& profile) {
  report::ReportOptions options;
  options.show_samples = true;
  std::string text = report::FormatReport(profile, options);
  exports::WriteFolded(profile, {}, [&](std::string_view lines) { text += lines; });
  return text;
}

TEST(SumsTest, OfEveryRecordingMakeTheReportThatItsRecordsMake) {
  const std::optional<std::string> directory = CorpusDirectory();
  if (!directory) GTEST_SKIP() << kNoCorpus;
  int compared = 0;
  for (const CorpusFile& file : CorpusFiles(*directory)) {
    SCOPED_TRACE(file.name);
    const auto recording = Recording::Open(file.path);
    if (!recording.ok() || (*recording)->layout().pipe) continue;
    FakeSymbolizer symbolizer;
    ProfileBuilder of_records = ReadAll(**recording, symbolizer);
    const auto sums = of_records.Sums();
    if (!sums) continue;  // stacks to unwind, or a JIT's dump that is not here
    perf_data::Features features;
    features.other[perf_data::kFeatureSums] = perf_data::EncodeSampleSums(*sums);
    auto read = perf_data::ReadSampleSums(features);
    ASSERT_TRUE(read.has_value());

    FakeSymbolizer others;
    ProfileBuilder of_sums = BuilderOf(**recording, others);
    ASSERT_TRUE(of_sums.AddSums(*std::move(read)));
    EXPECT_EQ(Report(std::move(of_sums).Finish()), Report(std::move(of_records).Finish()));
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace profiler::conformance
