// Tests the loop with a kernel in memory; its sessions, their event loops and files are real.

#include "src/fleet/agent/recording_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ringbuf/testing/fake_kernel.h"
#include "src/fleet/agent/agent.h"
#include "src/format/perf_data/read/recording.h"
#include "src/machine/events/find_events.h"
#include "src/machine/procfs/testing/fake_tree.h"
#include "src/record/testing/two_cpu_machine.h"

namespace profiler::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using testing::HasSubstr;
using Call = ringbuf::FakeKernel::Call;

class RecordingLoopTest : public testing::Test {
 protected:
  RecordingLoopTest() {
    record::WriteTwoCpuMachine(tree_, "-1");
    options_.recording.roots = tree_.roots();
    options_.recording.targets.system_wide = true;
    options_.recording.events.push_back(events::FindEvents(tree_.roots(), "cpu-clock")->front());
    options_.window = milliseconds(1);
    options_.first_wait = options_.longest_wait = milliseconds(1);
    options_.read_cost = [this] { return cost_; };
    options_.say = [this](std::string_view line) { said_ += std::string(line) + "\n"; };
    options_.on_session = [this](uint64_t frequency) {
      rates_.push_back(frequency);
      Publish();
      if (rates_.size() >= most_sessions_) loop_->Stop();
    };
    options_.on_recording = [this](FinishedRecording recording) {
      recordings_.push_back(std::move(recording));
      if (recordings_.size() >= most_recordings_) return loop_->Stop();
      cost_.cpu += took_each_;
      Publish();
    };
  }

  absl::Status Run() {
    RecordingLoop loop(kernel_, options_, metrics_);
    loop_ = &loop;
    return loop.Run();
  }

  // Adds a sample, which ends the window if its time is over.
  void Publish() { record::PublishSample(kernel_, 0, ++time_); }

  static int SamplesIn(const FinishedRecording& recording) {
    const auto file = perf_data::Recording::OpenFile(recording.file.get(), "a window");
    if (!file.ok()) return -1;
    int samples = 0;
    const absl::Status read = (*file)->ForEach(
        perf_data::Recording::Order::kFile, [&](const perf_data::TimedRecord& timed) {
          samples += timed.record.type() == perf_event::kRecordSample;
        });
    return read.ok() ? samples : -1;
  }

  procfs::FakeTree tree_;
  ringbuf::FakeKernel kernel_;
  RecordingLoopOptions options_;
  SharedMetrics metrics_;
  RecordingLoop* loop_ = nullptr;
  OwnCost cost_;
  nanoseconds took_each_{0};  // CPU time that each window takes
  uint64_t time_ = 0;
  size_t most_recordings_ = 3, most_sessions_ = 100;
  std::string said_;
  std::vector<uint64_t> rates_;
  std::vector<FinishedRecording> recordings_;
};

TEST_F(RecordingLoopTest, OneWindowFollowsTheOtherWithoutAGap) {
  ASSERT_TRUE(Run().ok()) << said_;
  ASSERT_EQ(recordings_.size(), 3u);
  for (const FinishedRecording& recording : recordings_) {
    EXPECT_EQ(SamplesIn(recording), 1);
    EXPECT_EQ(recording.samples, 1u);
    EXPECT_EQ(recording.frequency, 49u);
    EXPECT_EQ(recording.cpus, 2u);
    EXPECT_GT(recording.length, nanoseconds(0));
  }
  EXPECT_GT(recordings_[1].begin, recordings_[0].begin);
  EXPECT_EQ(metrics_.Get().sessions, 1u);
  EXPECT_EQ(said_, "");
}

TEST_F(RecordingLoopTest, TheWindowAtHandIsWrittenWhenItStops) {
  options_.window = std::chrono::hours(1);
  most_sessions_ = 1;
  ASSERT_TRUE(Run().ok()) << said_;
  ASSERT_EQ(recordings_.size(), 1u);
  EXPECT_EQ(SamplesIn(recordings_[0]), 1);
}

TEST_F(RecordingLoopTest, NothingToRecordFromTheStartIsAnError) {
  for (uint64_t call = 1; call < 100; ++call) kernel_.FailCall(Call::kOpenEvent, call, EACCES);
  EXPECT_FALSE(Run().ok());
  EXPECT_TRUE(recordings_.empty());
  EXPECT_EQ(metrics_.Get().failed_sessions, 1u);
}

TEST_F(RecordingLoopTest, ASessionThatCannotBeginIsTriedAgain) {
  options_.session = milliseconds(0);
  const auto on_recording = options_.on_recording;
  options_.on_recording = [&](FinishedRecording recording) {
    if (recordings_.empty()) kernel_.FailCall(Call::kOpenEvent, 1, EMFILE);
    on_recording(std::move(recording));
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(recordings_.size(), 3u);
  EXPECT_EQ(metrics_.Get().failed_sessions, 1u);
  EXPECT_THAT(said_, HasSubstr("; recording begins again in 0 s\n"));
}

TEST_F(RecordingLoopTest, ASessionEndsAfterAWhile) {
  options_.session = milliseconds(0);
  ASSERT_TRUE(Run().ok()) << said_;
  EXPECT_GE(rates_.size(), 2u);
  EXPECT_EQ(metrics_.Get().sessions, rates_.size());
  EXPECT_GT(metrics_.Get().gap_seconds, 0);
}

TEST_F(RecordingLoopTest, ASessionEndsWhereOtherCpusAreOnline) {
  const auto on_recording = options_.on_recording;
  options_.on_recording = [&](FinishedRecording recording) {
    tree_.Write("sys/devices/system/cpu/online", "0\n");
    on_recording(std::move(recording));
  };
  ASSERT_TRUE(Run().ok()) << said_;
  EXPECT_EQ(rates_.size(), 2u);
  EXPECT_EQ(recordings_.front().cpus, 2u);
  EXPECT_EQ(recordings_.back().cpus, 1u);
}

TEST_F(RecordingLoopTest, TheRateFallsWhereItTakesMoreThanItMay) {
  took_each_ = std::chrono::seconds(1000);  // far more than a window lasts
  most_recordings_ = 1000;
  most_sessions_ = 2;
  ASSERT_TRUE(Run().ok()) << said_;
  EXPECT_THAT(rates_, testing::ElementsAre(49, 19));
  EXPECT_THAT(said_, HasSubstr("allows 1.00 %, so the frequency is now 19 Hz\n"));
  EXPECT_EQ(recordings_.front().frequency, 49u);
  EXPECT_EQ(metrics_.Get().frequency, 19u);
}

TEST_F(RecordingLoopTest, TheBudgetDoesNotBoundTheTimeBesideTheRecording) {
  took_each_ = std::chrono::seconds(1000);
  options_.read_beside = [this] { return cost_.cpu; };
  most_recordings_ = 20;
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(rates_, std::vector<uint64_t>{49});
  EXPECT_EQ(said_, "");
  EXPECT_GT(metrics_.Get().cpu_share, 1);
}

TEST_F(RecordingLoopTest, AWindowWhoseTimeBesideIsUnknownDoesNotChangeTheRate) {
  took_each_ = std::chrono::seconds(1000);
  options_.read_beside = [] { return std::nullopt; };
  most_recordings_ = 20;
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(rates_, std::vector<uint64_t>{49});
  EXPECT_EQ(said_, "");
}

TEST_F(RecordingLoopTest, AtTheLowestRateItIsSaidOnce) {
  took_each_ = std::chrono::seconds(1000);
  options_.rates = {.least = 19, .most = 19, .first = 19};
  most_recordings_ = 20;
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(said_, testing::MatchesRegex("used .* at the lowest frequency, 19 Hz, [^\n]*\n"));
}

TEST_F(RecordingLoopTest, TimesOffTheCpuGoWhereTheyTakeMoreThanTheyMay) {
  took_each_ = std::chrono::seconds(1000);
  options_.rates = {.least = 19, .most = 19, .first = 19};
  options_.recording.off_cpu = true;
  most_recordings_ = 1000;
  most_sessions_ = 2;
  ASSERT_TRUE(Run().ok()) << said_;
  EXPECT_EQ(rates_.size(), 2u);
  EXPECT_THAT(said_, HasSubstr("--cpu-budget; --off-cpu is now off\n"));
}

TEST(RingBytesFor, AllRingsAreAQuarterOfTheMemoryAndEachHoldsSomeSamples) {
  constexpr uint64_t kMemory = uint64_t{128} << 20;
  EXPECT_EQ(RingBytesFor(kMemory, 2), 1u << 20);
  EXPECT_EQ(RingBytesFor(kMemory, 100), 256u << 10);
  EXPECT_EQ(RingBytesFor(kMemory, 4096), 128u << 10);
  EXPECT_EQ(RingBytesFor(kMemory, 0), 1u << 20);
}

TEST_F(RecordingLoopTest, TheKernelsLimitIsTheRateThatIsSaid) {
  tree_.Write("proc/sys/kernel/perf_event_max_sample_rate", "25\n");
  ASSERT_TRUE(Run().ok()) << said_;
  EXPECT_EQ(recordings_.front().frequency, 25u);
}

}  // namespace
}  // namespace profiler::agent
