#include "src/record/off_cpu_stage.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "ringbuf/record_cursor.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::record {
namespace {

using perf_event::kContextKernel;
using perf_event::kContextUser;

constexpr uint64_t kBlockedId = 71, kPreemptedId = 72;
// Scheduler functions begin at kScheduler.
constexpr uint64_t kKernel = 0xffffffff80000000, kScheduler = kKernel + 0x2000;

perf_event::Attr SidebandAttr() {
  return perf_event::SampleAttr(perf_event::kSampleIdentifier | perf_event::kSampleTid |
                                perf_event::kSampleTime | perf_event::kSampleCpu);
}
perf_event::Attr WrittenAttr() {
  return perf_event::SampleAttr(perf_event::kSampleIdentifier | perf_event::kSampleIp |
                                perf_event::kSampleTid | perf_event::kSampleTime |
                                perf_event::kSampleCpu | perf_event::kSamplePeriod |
                                perf_event::kSampleCallchain);
}

class OffCpuStageTest : public testing::Test {
 protected:
  OffCpuStageOptions Options() const {
    return {.sideband = perf_event::RecordLayout(SidebandAttr()),
            .written = perf_event::RecordLayout(WrittenAttr()),
            .blocked_id = kBlockedId,
            .preempted_id = kPreemptedId,
            .scheduler = {kScheduler, kScheduler + 0x1000}};
  }
  void Switch(OffCpuStage& stage, uint64_t time, uint16_t misc, uint32_t tid = 8) {
    perf_event::RecordBuilder records(SidebandAttr());
    records.Add(perf_event::kRecordSwitch, misc,
                perf_event::Switch{.sample_id = {.pid = 7, .tid = tid, .time = time, .cpu = 1}});
    written_ = stage.Take(records.last());
  }
  static void Sample(OffCpuStage& stage, std::vector<uint64_t> chain) {
    stage.TakeSample({.pid = 7, .tid = 8}, chain);
  }
  // Returns the samples, one per line.
  std::string Output() const {
    std::vector<std::string> lines;
    ringbuf::RingBytes bytes;
    bytes.spans[0] = output_;
    ringbuf::BounceBuffer bounce;
    ringbuf::RecordCursor cursor(bytes, bounce);
    while (const auto record = cursor.Next()) {
      perf_event::Sample sample;
      EXPECT_TRUE(Decode(*record, perf_event::RecordLayout(WrittenAttr()), &sample));
      std::string line =
          absl::StrCat(sample.id == kBlockedId ? "blocked " : "preempted ", sample.period, " to ",
                       sample.time, " of ", sample.pid, "/", sample.tid, " on ", sample.cpu, ":");
      for (size_t i = 0; i < sample.callchain.size(); ++i) {
        const uint64_t entry = sample.callchain[i];
        absl::StrAppend(&line, entry == kContextKernel ? " kernel"
                               : entry == kContextUser ? " user"
                                                       : absl::StrCat(" ", absl::Hex(entry)));
        if (entry == sample.ip) line += "(ip)";
      }
      lines.push_back(line);
    }
    return absl::StrJoin(lines, "\n");
  }

  std::vector<std::byte> output_;
  bool written_ = false;  // True if the last SWITCH goes into the file.
};

constexpr uint16_t kOut = perf_event::kMiscSwitchOut;
constexpr uint16_t kPreempted = perf_event::kMiscSwitchOut | perf_event::kMiscSwitchOutPreempt;

TEST_F(OffCpuStageTest, WritesASampleForEachTimeOffTheCpuFromWhereTheKernelWaits) {
  OffCpuStage stage(Options(), &output_);
  stage.Begin(0);
  Sample(stage, {kContextKernel, kScheduler + 8, kScheduler + 4, kKernel + 1, kContextUser, 0x40});
  Switch(stage, 100, kOut);
  Switch(stage, 350, 0);
  EXPECT_EQ(Output(), "blocked 250 to 350 of 7/8 on 1: kernel ffffffff80000001(ip) user 40");
  EXPECT_FALSE(written_);
}

TEST_F(OffCpuStageTest, WritesThePreemptedAsAnotherEvent) {
  OffCpuStage stage(Options(), &output_);
  stage.Begin(0);
  Sample(stage, {kContextUser, 0x41, 0x40});
  Switch(stage, 100, kPreempted);
  Switch(stage, 110, 0);
  EXPECT_EQ(Output(), "preempted 10 to 110 of 7/8 on 1: user 41(ip) 40");
}

TEST_F(OffCpuStageTest, KeepsAChainThatIsOfTheSchedulerAlone) {
  OffCpuStage stage(Options(), &output_);
  stage.Begin(0);
  Sample(stage, {kContextKernel, kScheduler + 8, kContextUser, 0x40});
  Switch(stage, 100, kOut);
  Switch(stage, 110, 0);
  EXPECT_EQ(Output(), "blocked 10 to 110 of 7/8 on 1: kernel ffffffff80002008(ip) user 40");
}

TEST_F(OffCpuStageTest, PassesOverTheIdleThread) {
  OffCpuStage stage(Options(), &output_);
  stage.Begin(0);
  Switch(stage, 100, kOut, /*tid=*/0);
  Switch(stage, 110, 0, /*tid=*/0);
  stage.End(200);
  EXPECT_EQ(Output(), "");
}

TEST_F(OffCpuStageTest, CountsFromTheExecOfTheCommandOn) {
  OffCpuStageOptions options = Options();
  options.begins_with_exec_of = 7;
  OffCpuStage stage(options, &output_);
  Switch(stage, 100, kOut);
  Switch(stage, 200, 0);
  EXPECT_FALSE(stage.threads().has_begun());
  perf_event::RecordBuilder records(SidebandAttr());
  records.At(300).By(7, 8).Comm("command", /*exec=*/true);
  EXPECT_TRUE(stage.Take(records.last()));
  Switch(stage, 400, kOut);
  Switch(stage, 450, 0);
  stage.End(450);
  EXPECT_EQ(Output(), "blocked 50 to 450 of 7/8 on 1:");
}

TEST_F(OffCpuStageTest, LeavesSwitchesInTheFileWhereTheyWereAskedFor) {
  OffCpuStageOptions options = Options();
  options.keeps_switches = true;
  OffCpuStage stage(options, &output_);
  Switch(stage, 100, kOut);
  EXPECT_TRUE(written_);
}

TEST_F(OffCpuStageTest, SumsUpWhatThreadsWereBlockedIn) {
  OffCpuStage stage(Options(), &output_);
  stage.Begin(0);
  for (uint64_t time = 100; time < 400; time += 100) {
    Sample(stage,
           {kContextKernel, kScheduler, kKernel + time, kKernel + 2, kKernel + 1, kContextUser});
    Switch(stage, time, kOut);
    Switch(stage, time + 10, 0);
  }
  EXPECT_EQ(stage.blocked().size(), 3);
}

TEST_F(OffCpuStageTest, TellsHowManySwitchesThereAreASecond) {
  OffCpuStage stage(Options(), &output_);
  stage.Begin(0);
  constexpr uint64_t kEach = 100'000;  // ns: 10 000 per second
  uint64_t time = kEach;
  for (int i = 0; i < 1000; ++i, time += kEach) {
    Switch(stage, time, kOut);
    Switch(stage, time + 10, 0);
  }
  EXPECT_NEAR(static_cast<double>(stage.switch_rate(time)), 10'000, 200);
  EXPECT_EQ(stage.switch_rate(time + 1'000'000'000), 0);
}

TEST_F(OffCpuStageTest, SumsUpShortTimesOfOnePlaceUntilTheEnd) {
  OffCpuStageOptions options = Options();
  options.least_duration = 100;
  OffCpuStage stage(options, &output_);
  stage.Begin(0);
  for (const uint64_t time : {100, 300, 500}) {
    Sample(stage, {kContextUser, 0x40});
    Switch(stage, time, kOut);
    Switch(stage, time + (time == 300 ? 150 : 60), 0);
  }
  EXPECT_EQ(Output(), "blocked 150 to 450 of 7/8 on 1: user 40(ip)");
  stage.End(700);
  EXPECT_EQ(Output(),
            "blocked 150 to 450 of 7/8 on 1: user 40(ip)\n"
            "blocked 120 to 560 of 7/8 on 1: user 40(ip)");
}

}  // namespace
}  // namespace profiler::record
