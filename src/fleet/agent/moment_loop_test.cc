// Tests the loop with a kernel in memory; its sessions, their event loops and files are real.

#include "src/fleet/agent/moment_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ringbuf/testing/fake_kernel.h"
#include "src/format/perf_data/read/recording.h"
#include "src/machine/events/find_events.h"
#include "src/machine/procfs/testing/fake_tree.h"
#include "src/record/testing/two_cpu_machine.h"

namespace profiler::agent {
namespace {

using std::chrono::nanoseconds;
using testing::HasSubstr;
using testing::MatchesRegex;
using Call = ringbuf::FakeKernel::Call;

class MomentLoopTest : public testing::Test {
 protected:
  MomentLoopTest() {
    record::WriteTwoCpuMachine(tree_, "-1");
    options_.recording.roots = tree_.roots();
    options_.recording.targets.system_wide = true;
    options_.recording.events.push_back(events::FindEvents(tree_.roots(), "cpu-clock")->front());
    options_.recording.flight =
        record::FlightOptions{.before = std::chrono::seconds(30),
                              .triggers = {{.kind = record::FlightTrigger::Kind::kEvent,
                                            .name = "x",
                                            .text = "event:x",
                                            .cools_down = false}}};
    options_.directory = tree_.path("moments");
    options_.naming.places.no_cache = options_.naming.places.no_sandbox = true;
    options_.naming.fetch.off = true;
    options_.waits = {.first = std::chrono::milliseconds(1),
                      .longest = std::chrono::milliseconds(1)};
    options_.on_session = [this] { Publish(); };
    options_.say = [this](std::string_view line) {
      said_ += std::string(line) + "\n";
      if (line.starts_with("wrote ")) loop_->Stop();
    };
  }

  // Runs the loop until it has written a file.
  absl::Status Run() {
    MomentLoop loop(kernel_, options_);
    loop_ = &loop;
    const absl::Status status = loop.Run();
    times_ = {loop.SteadyCpuTime(), loop.SteadyCpuTime()};
    return status;
  }

  // Adds a sample, which fires the trigger.
  void Publish() { record::PublishSample(kernel_, 0, 500, record::SamplingId(kernel_)); }

  // Lists the files of the directory, sorted by name.
  std::vector<std::string> FilesThere() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(options_.directory)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  procfs::FakeTree tree_;
  ringbuf::FakeKernel kernel_;
  MomentLoopOptions options_;
  MomentLoop* loop_ = nullptr;
  std::string said_;
  std::pair<std::optional<nanoseconds>, std::optional<nanoseconds>> times_;
};

TEST_F(MomentLoopTest, ATriggerWritesAFileAndSaysWhy) {
  ASSERT_TRUE(Run().ok()) << said_;
  const std::vector<std::string> files = FilesThere();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_THAT(files[0], MatchesRegex("perf\\.data\\.[0-9]{16}"));
  const std::string path = options_.directory + "/" + files[0];
  EXPECT_THAT(said_, testing::StartsWith("wrote " + path + ": 1 samples, "));
  EXPECT_THAT(said_, HasSubstr(" s before event:x (thread 1)\n"));
  EXPECT_TRUE(perf_data::Recording::Open(path).ok());
}

TEST_F(MomentLoopTest, TheLatestFilesAreKeptAlsoOfEarlierRuns) {
  options_.most_files = 2;
  for (const char* const name :
       {"perf.data.2020010100000000", "perf.data.2020010100000001", "perf.data.part", "notes"}) {
    tree_.Write(std::string("moments/") + name, "");
  }
  ASSERT_TRUE(Run().ok()) << said_;
  EXPECT_THAT(FilesThere(), testing::ElementsAre("notes", "perf.data.2020010100000001",
                                                 testing::Not("perf.data.2020010100000000")));
}

TEST_F(MomentLoopTest, NothingToRecordFromTheStartIsAnError) {
  for (uint64_t call = 1; call < 100; ++call) kernel_.FailCall(Call::kOpenEvent, call, EACCES);
  EXPECT_FALSE(Run().ok());
  EXPECT_EQ(said_, "");
}

TEST_F(MomentLoopTest, ATriggerThatThisMachineLacksIsAnError) {
  options_.recording.flight->triggers = {{.kind = record::FlightTrigger::Kind::kPressure,
                                          .percent = 20,
                                          .name = "cpu",
                                          .text = "psi:cpu>20%"}};
  EXPECT_THAT(std::string(Run().message()), HasSubstr("psi:cpu>20%"));
}

TEST_F(MomentLoopTest, ASessionThatFailsLaterIsTriedAgain) {
  int sessions = 0;
  options_.on_session = [&] {
    if (++sessions == 1) return kernel_.FailCall(Call::kEnable, 1, EIO);
    Publish();
  };
  ASSERT_TRUE(Run().ok()) << said_;
  EXPECT_EQ(sessions, 2);
  EXPECT_THAT(said_, HasSubstr("; the flight recorder begins again in 0 s\n"));
}

TEST_F(MomentLoopTest, ItsCpuTimeIsUnknownAroundAMoment) {
  ASSERT_TRUE(Run().ok()) << said_;
  EXPECT_FALSE(times_.first.has_value());
  ASSERT_TRUE(times_.second.has_value());
  EXPECT_GT(times_.second->count(), 0);
}

}  // namespace
}  // namespace profiler::agent
