#include "src/importers/write_profile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "src/format/perf_data/sections/own_sections.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"
#include "src/importers/profile_maker.h"
#include "src/importers/testing/views.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::importers {
namespace {

std::string Written(const profile::Profile& profile, const WriteProfileOptions& options = {}) {
  std::string path = perf_data::TestPath("written.data");
  const auto written = WriteProfile(profile, path, options);
  EXPECT_TRUE(written.ok()) << written.status();
  return path;
}

// Returns the periods of the samples, in the order of the file.
std::vector<uint64_t> PeriodsIn(const std::string& path) {
  std::vector<uint64_t> periods;
  auto recording = perf_data::Recording::Open(path);
  const auto status =
      (*recording)
          ->ForEach(perf_data::Recording::Order::kFile, [&](const perf_data::TimedRecord& timed) {
            perf_event::Sample sample;
            if (timed.record.type() != perf_event::kRecordSample) return;
            EXPECT_TRUE(Decode(timed.record, (*recording)->events()[timed.event].layout, &sample));
            periods.push_back(sample.period);
          });
  EXPECT_TRUE(status.ok()) << status;
  return periods;
}

TEST(AProfile, IsTheSameWhenItIsReadFromTheRecordingThatItWasWrittenTo) {
  profile::HandmadeProfile made;
  made.Thread(7, 7).LoadedAt(0x7f0000000000);
  made.Sample("app",
              {"main@app", "inner<outer@app", "read@libc.so.6", "vfs_read@[kernel.kallsyms]"}, 3,
              1000);
  made.Sample("app", {"main@app", "0x9999@app", "0x1234"}, 1, 50);
  made.Thread(8, 9).Sample("other", {"main@app", "read+0x10@libc.so.6"}, 2, 10);
  const auto loaded = Load(Written(made.profile()));
  EXPECT_EQ(FramesOf(loaded.profile), FramesOf(made.profile()));
  EXPECT_EQ(FoldedOf(loaded.profile), FoldedOf(made.profile()));
  EXPECT_EQ(EventsOf(loaded.profile), EventsOf(made.profile()));
}

TEST(ARow, IsAsManySamplesAsItCountsWhosePeriodsAddUp) {
  ProfileMaker maker;
  maker.Add({.event = maker.Event("cpu"),
             .thread = maker.NamedThread("app"),
             .stack = maker.Stack(profile::kNoStack, maker.Function("main")),
             .count = 3,
             .period = 11});
  EXPECT_EQ(PeriodsIn(Written(std::move(maker).Finish())), (std::vector<uint64_t>{5, 3, 3}));
}

TEST(Rows, OfOneTimeAreMixedWhereTheyAreSeveralSamples) {
  ProfileMaker maker;
  for (const uint64_t time : {1000, 2000}) {
    for (const char* const name : {"a", "b"}) {
      maker.Add({.event = maker.Event("cpu"),
                 .thread = maker.NamedThread("app"),
                 .stack = maker.Stack(profile::kNoStack, maker.Function(name)),
                 .count = 100,
                 .period = time * (name[0] == 'a' ? 100 : 300),
                 .time = time});
    }
  }
  const std::vector<uint64_t> periods = PeriodsIn(Written(std::move(maker).Finish()));
  ASSERT_EQ(periods.size(), 400u);
  for (size_t i = 0; i < periods.size(); ++i) {
    EXPECT_TRUE(periods[i] == (i < 200 ? 1000 : 2000) || periods[i] == (i < 200 ? 3000 : 6000));
  }
  size_t changes = 0;
  for (size_t i = 1; i < 200; ++i) changes += periods[i] != periods[i - 1] ? 1 : 0;
  EXPECT_GT(changes, 70u);
  EXPECT_LT(changes, 130u);
}

TEST(Rows, AreOneSampleEachWhereTheyCountTooMany) {
  ProfileMaker maker;
  for (const char* const name : {"a", "b"}) {
    maker.Add({.event = maker.Event("cpu"),
               .thread = maker.NamedThread("app"),
               .stack = maker.Stack(profile::kNoStack, maker.Function(name)),
               .count = 1'000'000'000'000,
               .period = 7});
  }
  const profile::Profile profile = std::move(maker).Finish();
  const std::string path = perf_data::TestPath("many.data");
  const auto written = WriteProfile(profile, path, {});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(PeriodsIn(path), (std::vector<uint64_t>{7, 7}));
  ASSERT_EQ(written->warnings.size(), 1);
  EXPECT_EQ(written->warnings[0],
            "its samples are too many to be written one by one: each of 2 rows is one sample, with "
            "the period of all");
}

// Returns a thousand samples; the nth has n frames.
profile::Profile DeeperAndDeeper() {
  ProfileMaker maker;
  const auto event = maker.Event("cpu");
  const auto thread = maker.NamedThread("app");
  profile::StackId stack = profile::kNoStack;
  for (uint64_t i = 0; i < 1000; ++i) {
    stack = maker.Stack(stack, maker.Function("f"));
    maker.Add({.event = event, .thread = thread, .stack = stack, .time = i});
  }
  return std::move(maker).Finish();
}

TEST(AWrittenProfile, HasShorterChainsIfWholeOnesAreTooLarge) {
  WriteProfileOptions options;
  options.most_recorded = 200'000;
  const std::string path = perf_data::TestPath("deep.data");
  const auto written = WriteProfile(DeeperAndDeeper(), path, options);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->samples, 1000);
  EXPECT_LT(std::filesystem::file_size(path), 400'000);
  ASSERT_EQ(written->warnings.size(), 1);
  EXPECT_EQ(written->warnings[0],
            "983 call chains have more than 17 frames: the outermost are missing");
}

TEST(AWrittenProfile, LeavesSamplesOutIfEvenTheShortestAreTooLarge) {
  WriteProfileOptions options;
  options.most_recorded = 10'000;
  const auto written =
      WriteProfile(DeeperAndDeeper(), perf_data::TestPath("left-out.data"), options);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_LT(written->samples, 200);
  EXPECT_EQ(written->warnings.back(),
            std::to_string(1000 - written->samples) +
                " samples are left out, because they expand to too many records for a file of this "
                "size");
}

TEST(AWrittenProfile, MayBe64TimesItsInput) {
  EXPECT_EQ(MostRecordedOf(1), uint64_t{256} << 20);
  EXPECT_EQ(MostRecordedOf(uint64_t{16} << 20), uint64_t{1} << 30);
  EXPECT_EQ(MostRecordedOf(uint64_t{1} << 60), uint64_t{4} << 30);
}

TEST(AWrittenProfile, SaysWhatItWasMadeOfAndNothingOfThisMachine) {
  ProfileMaker maker;
  maker.Add({.event = maker.Event("cpu"), .thread = maker.NamedThread("app")});
  WriteProfileOptions options;
  perf_data::SetImported({"cpu.pb.gz", "pprof"}, &options.features);
  auto recording = perf_data::Recording::Open(Written(std::move(maker).Finish(), options));
  ASSERT_TRUE(recording.ok());
  const perf_data::Features& features = (*recording)->features();
  EXPECT_EQ(perf_data::ReadImported(features), (perf_data::ImportedFrom{"cpu.pb.gz", "pprof"}));
  EXPECT_TRUE(features.hostname.empty() && features.cpudesc.empty() && features.cmdline.empty() &&
              !features.nrcpus && !features.total_mem_kb && !features.sample_time);
}

TEST(AWrittenProfile, KnowsItsOriginWhereSumsAreStoredAsWell) {
  ProfileMaker maker;
  maker.Add({.event = maker.Event("cpu"), .thread = maker.NamedThread("app")});
  WriteProfileOptions options;
  perf_data::SetImported({"cpu.pb.gz", "pprof"}, &options.features);
  options.sums = [] { return "the sums"; };
  auto recording = perf_data::Recording::Open(Written(std::move(maker).Finish(), options));
  ASSERT_TRUE(recording.ok());
  const perf_data::Features& features = (*recording)->features();
  EXPECT_EQ(perf_data::ReadImported(features), (perf_data::ImportedFrom{"cpu.pb.gz", "pprof"}));
  EXPECT_EQ(features.other.at(perf_data::kFeatureSums), "the sums");
}

TEST(AWrittenProfile, IsSampledUnlessItSaysThatEachOccurrenceWasCounted) {
  ProfileMaker maker;
  maker.Add({.event = maker.Event("samples"), .thread = maker.NamedThread("app")});
  profile::Profile profile = std::move(maker).Finish();
  EXPECT_TRUE(Load(Written(profile)).profile.events[0].frequency);
  profile.events[0].frequency = false;
  EXPECT_FALSE(Load(Written(profile)).profile.events[0].frequency);
}

TEST(SamplesWithTimes, StandInTheirOrderWithTheNamesThatThreadsHadThen) {
  ProfileMaker maker;
  const auto event = maker.Event("cpu");
  const auto stack = maker.Stack(profile::kNoStack, maker.Function("f"));
  const auto add = [&](uint64_t time, std::string_view comm) {
    maker.Add({.event = event,
               .thread = maker.Thread(5, 5, comm),
               .stack = stack,
               .period = time,
               .time = time,
               .cpu = 1});
  };
  add(30, "new name");
  add(10, "old name");
  add(20, "old name");
  const std::string path = Written(std::move(maker).Finish());
  EXPECT_EQ(PeriodsIn(path), (std::vector<uint64_t>{10, 20, 30}));
  EXPECT_EQ(FoldedOf(Load(path).profile), "new name;f 30\nold name;f 30\n");
}

}  // namespace
}  // namespace profiler::importers
