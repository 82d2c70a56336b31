#include "src/profile/naming/load_profile.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/branch_filter.h"
#include "src/profile/profile_codec.h"

namespace profiler::naming {
namespace {

using perf_event::Attr;

// True if callers in the chains of this recording are looked up at their own addresses.
bool CallersAreExact(const perf_data::Recording& recording) {
  return BuilderOptionsFor(recording.events(), recording.features(), {}).exact_user_chains;
}

std::unique_ptr<perf_data::Recording> Opened(const std::string& path) {
  auto recording = perf_data::Recording::Open(path);
  EXPECT_TRUE(recording.ok()) << recording.status();
  return *std::move(recording);
}

std::string FileOf(const Attr& attr, const perf_data::Features* features) {
  const std::string path = perf_data::TestPath("recording");
  auto writer = perf_data::Writer::Create(path, {{attr, "cpu-clock", {}}}, size_t{0});
  EXPECT_TRUE(writer.ok());
  perf_event::RecordBuilder records(attr);
  records.At(1).By(7, 7).Sample(0x1234);
  EXPECT_TRUE(perf_data::AppendAll(**writer, records).ok());
  EXPECT_TRUE((*writer)->FinishRound().ok());
  if (features != nullptr) {
    EXPECT_TRUE((*writer)->Finish(*features).ok());
  }
  return path;
}

std::string KilledFileOf(const Attr& attr) { return FileOf(attr, nullptr); }

// Returns the attr in the file if the recorder unwinds user stacks while recording.
Attr UnwoundByUs() {
  Attr attr = perf_data::UsualAttr();
  attr.flags |= perf_event::kAttrExcludeCallchainUser;
  return attr;
}

TEST(LoadProfileTest, CallersOfOursAreExactInARecordingThatWasKilled) {
  EXPECT_TRUE(CallersAreExact(*Opened(KilledFileOf(UnwoundByUs()))));
}

TEST(LoadProfileTest, CallersOfOursAreExactInAStreamThatIsStillWritten) {
  const std::string path = perf_data::TestPath("stream");
  perf_data::WriteFile(path, perf_data::StreamOf({{UnwoundByUs(), "cpu-clock", {1}}}, {}));
  EXPECT_TRUE(CallersAreExact(*Opened(path)));
}

TEST(LoadProfileTest, CallersOfTheKernelAreReturnAddresses) {
  EXPECT_FALSE(CallersAreExact(*Opened(KilledFileOf(perf_data::UsualAttr()))));
}

TEST(LoadProfileTest, CallersOfARecordingWithStacksAreReturnAddresses) {
  Attr attr = UnwoundByUs();
  attr.sample_type |= perf_event::kSampleRegsUser | perf_event::kSampleStackUser;
  EXPECT_FALSE(CallersAreExact(*Opened(KilledFileOf(attr))));
}

TEST(LoadProfileTest, CallersAreExactWhereAnOlderRecorderSaysHowItFoundThem) {
  perf_data::Features features;
  perf_data::SetChainQuality({.complete = 1}, &features);
  EXPECT_TRUE(CallersAreExact(*Opened(FileOf(perf_data::UsualAttr(), &features))));
}

Attr WithBranches(uint64_t kinds) {
  Attr attr = perf_data::UsualAttr();
  attr.sample_type |= perf_event::kSampleCallchain | perf_event::kSampleBranchStack;
  attr.branch_sample_type = kinds;
  return attr;
}

// True if a report shows the branches of such a recording instead of its samples.
bool ShowsBranches(const Attr& attr, const perf_data::Features& features,
                   const LoadOptions& options = {.keep_branches = true}) {
  const auto loaded = LoadUnnamedProfile(FileOf(attr, &features), options);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() && loaded->profile.events[0].branch_stacks;
}

TEST(LoadProfileTest, CallsThatTheProcessorKeptAreBranchesWhereBranchesWereAskedFor) {
  const Attr calls = WithBranches(perf_event::kBranchCallStack);
  perf_data::Features asked_for_branches;
  asked_for_branches.other[perf_data::kFeatureBranchStack] = "";
  EXPECT_FALSE(ShowsBranches(calls, {}));                 // perf record --call-graph lbr
  EXPECT_TRUE(ShowsBranches(calls, asked_for_branches));  // perf record -j stack
  EXPECT_TRUE(ShowsBranches(calls, {}, {.keep_branches = true, .keep_call_branches = true}));
  EXPECT_TRUE(ShowsBranches(WithBranches(perf_event::kBranchAny), {}));
}

TEST(LoadProfileTest, BranchesAreReadFromTheRecordsWhereTheRecordingHasItsSums) {
  const Attr attr = WithBranches(perf_event::kBranchAny);
  perf_data::Features features;
  auto samples =
      LoadUnnamedProfile(FileOf(attr, &features), {.dimensions = profile::kStoredDimensions});
  ASSERT_TRUE(samples.ok()) << samples.status();
  features.other[perf_data::kFeatureSums] =
      profile::EncodeProfile(samples->profile, samples->recording->layout().data.size);
  EXPECT_TRUE(ShowsBranches(attr, features));
}

TEST(LoadProfileTest, ReportsHowFarTheReadingAndTheNamingAre) {
  const std::string path = perf_data::TestPath("progress");
  auto writer =
      perf_data::Writer::Create(path, {{perf_data::UsualAttr(), "cpu-clock", {1}}}, size_t{0});
  ASSERT_TRUE(writer.ok());
  perf_event::RecordBuilder records(perf_data::UsualAttr());
  records.By(7, 7).Id(1).At(1).Comm("app").Mmap2(0x1000, 0x1000, 0, "/gone/app");
  for (uint64_t time = 2; time < 5000; ++time) records.At(time).Sample(0x1000 + time % 100);
  ASSERT_TRUE(perf_data::AppendAll(**writer, records).ok());
  ASSERT_TRUE((*writer)->Finish(perf_data::UsualFeatures()).ok());
  std::vector<LoadProgress> reading, naming;
  LoadOptions options;
  options.on_progress = [&](const LoadProgress& at) {
    (at.step == LoadProgress::Step::kReading ? reading : naming).push_back(at);
  };
  ASSERT_TRUE(LoadProfile(path, options).ok());
  ASSERT_FALSE(reading.empty());
  EXPECT_LT(reading.back().done, reading.back().all);
  EXPECT_GT(reading.back().done, reading.back().all / 2);
  ASSERT_FALSE(naming.empty());
  EXPECT_GT(naming.back().done, 0u);
  EXPECT_LE(naming.back().done, naming.back().all);
}

TEST(LoadProfileTest, PercentsOfTheTimeAreOfNoRecordingThatSaysZerosForIt) {
  const auto choose = [](uint64_t last) {
    LoadOptions options;
    options.times = {{.begin_percent = 10, .end_percent = 20}};
    perf_data::Features features;
    features.sample_time = {{0, last}};
    return SelectionOf(*Opened(FileOf(perf_data::UsualAttr(), &features)), options).status();
  };
  EXPECT_TRUE(choose(190).ok());
  EXPECT_EQ(choose(0).message(),
            "--time: the recording does not say when its samples were taken: give seconds");
}

TEST(LoadProfileTest, AProfileToBrowseKeepsTheTimesOfRecordsThatAreReadAnyway) {
  const Attr attr = perf_data::UsualAttr();
  const std::string path = perf_data::TestPath("recording");
  auto writer = perf_data::Writer::Create(path, {{attr, "cpu-clock", {}}}, size_t{0});
  ASSERT_TRUE(writer.ok());
  perf_event::RecordBuilder records(attr);
  records.At(1).By(7, 7).Sample(0x1234);
  records.At(399).By(7, 7).Sample(0x1234);
  ASSERT_TRUE(perf_data::AppendAll(**writer, records).ok());
  ASSERT_TRUE((*writer)->FinishRound().ok());
  perf_data::Features features;
  features.sample_time = {{0, 399}};
  ASSERT_TRUE((*writer)->Finish(features).ok());
  const auto slices = [&](bool is_browsed) {
    LoadOptions options;
    options.is_browsed = is_browsed;
    const auto loaded = LoadProfile(path, options);
    const auto& column = loaded->profile.column(profile::Dimension::kSlice);
    return std::pair(loaded->profile.rows.size(),
                     std::vector<uint32_t>(column.begin(), column.end()));
  };
  EXPECT_EQ(slices(false), std::pair(size_t{1}, std::vector<uint32_t>()));
  EXPECT_EQ(slices(true), std::pair(size_t{2}, std::vector<uint32_t>{0, 199}));
}

TEST(LoadProfileTest, ChoosesByCpuOnlyWhereSamplesSayTheirs) {
  const auto choose = [](uint64_t sample_type, const std::vector<uint32_t>& cpus) {
    LoadOptions options;
    options.cpus = cpus;
    return SelectionOf(*Opened(KilledFileOf(perf_event::SampleAttr(sample_type))), options);
  };
  constexpr uint64_t kType =
      perf_event::kSampleIp | perf_event::kSampleTid | perf_event::kSampleTime;
  EXPECT_EQ(choose(kType, {1}).status().message(),
            "-C: the samples of cpu-clock do not say on which CPU they were taken: leave out -C");
  EXPECT_TRUE(choose(kType | perf_event::kSampleCpu, {1}).ok());
  EXPECT_TRUE(choose(kType, {}).ok());
}

}  // namespace
}  // namespace profiler::naming
