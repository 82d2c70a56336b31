// Compares two profiles of each recording of the corpus. One profile is made from the records. The
// other is decoded from the stored sums of the same records.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "src/format/perf_data/read/recording.h"
#include "src/profile/profile_builder.h"
#include "src/profile/profile_codec.h"
#include "src/profile/testing/fake_symbolizer.h"
#include "src/views/flamegraph/folded.h"
#include "src/views/report/testing/format_report.h"
#include "tests/conformance/corpus.h"

namespace profiler::conformance {
namespace {

using perf_data::Recording;
using perf_data::TimedRecord;
using profile::FakeSymbolizer;
using profile::Profile;
using profile::ProfileBuilder;

constexpr uint64_t kDataSize = 1;

ProfileBuilder ReadAll(Recording& recording, FakeSymbolizer& symbolizer,
                       profile::BuilderOptions options) {
  ProfileBuilder builder(symbolizer, std::move(options));
  for (const auto& event : recording.events()) builder.AddEvent(event.name, event.attr);
  for (const auto& entry : recording.features().build_ids) {
    builder.AddBuildId(entry.filename, entry.build_id);
  }
  recording
      .ForEach(
          Recording::Order::kTime,
          [&](const TimedRecord& timed) { builder.Add(timed.record, timed.event, timed.time); })
      .IgnoreError();  // errors are expected; the readable part is compared
  return builder;
}

std::string Report(const Profile& profile, const profile::Wanted& wanted) {
  report::ReportOptions options;
  if (wanted.threads) {
    options.sort = {report::SortKey::kTid, report::SortKey::kCpu, report::SortKey::kSymbol};
  }
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
    ProfileBuilder all = ReadAll(
        **recording, symbolizer,
        {.dimensions = {true, true}, .slices = profile::TimeSlices::Of(0, 1'000'000'000, 200)});
    if (!all.IsOfRecordsAlone()) continue;  // has stacks to unwind
    Profile unnamed = std::move(all).Unnamed().profile;
    if (!unnamed.losses.warnings.empty()) continue;  // needs a JIT dump that is missing here
    const std::string section = EncodeProfile(unnamed, kDataSize);
    for (const profile::Wanted& wanted :
         {profile::Wanted{}, profile::Wanted{.threads = true, .dimensions = {true, false}},
          profile::Wanted{.samples = {.cpus = {0}}}}) {
      ProfileBuilder of_records = ReadAll(**recording, symbolizer,
                                          {.dimensions = wanted.dimensions,
                                           .keep_thread = wanted.threads,
                                           .samples = wanted.samples});
      FakeSymbolizer others;
      auto stored = profile::DecodeProfile(section, kDataSize, wanted);
      ASSERT_TRUE(stored.has_value());
      const Profile of_sums = Named(WithImages(*std::move(stored), others), others);
      EXPECT_EQ(Report(of_sums, wanted), Report(std::move(of_records).Finish(), wanted));
    }
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace profiler::conformance
