// Tests the loop with a kernel in memory; its sessions, their event loops and files are real.

#include "src/fleet/agent/moment_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ringbuf/testing/fake_kernel.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/machine/events/find_events.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::agent {
namespace {

using std::chrono::nanoseconds;
using testing::HasSubstr;
using testing::MatchesRegex;
using Call = ringbuf::FakeKernel::Call;

class MomentLoopTest : public testing::Test {
 protected:
  MomentLoopTest() {
    tree_.Write("sys/devices/system/cpu/online", "0-1\n")
        .Write("sys/devices/system/cpu/present", "0-1\n")
        .Write("proc/sys/kernel/perf_event_paranoid", "-1\n")
        .Write("proc/sys/kernel/perf_event_mlock_kb", "516\n")
        .Write("proc/sys/kernel/perf_event_max_sample_rate", "100000\n")
        .Write("proc/sys/kernel/hostname", "box\n")
        .Process(1, 0, "init", "1000-2000 r-xp 00000000 00:01 5 /sbin/none\n");
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

  // Returns the id of the first open event that takes samples.
  uint64_t SamplingId() {
    std::istringstream lines(kernel_.Describe());
    for (std::string line; std::getline(lines, line);) {
      constexpr char kDummy[] = " config 9 ";
      uint64_t id = 0;
      if (line.find(kDummy) != std::string::npos) continue;
      if (sscanf(line.c_str(), "id %" SCNu64, &id) == 1) return id;
    }
    return 0;
  }

  // Adds a sample, which fires the trigger.
  void Publish() {
    perf_event::Attr attr;
    attr.sample_type = perf_event::kSampleIdentifier | perf_event::kSampleIp |
                       perf_event::kSampleTid | perf_event::kSampleTime | perf_event::kSampleCpu |
                       perf_event::kSamplePeriod;
    attr.flags = perf_event::kAttrSampleIdAll;
    perf_event::RecordBuilder records(attr);
    records.At(500).By(1, 1).On(0).Id(SamplingId()).Sample(0x1234);
    for (const auto record : records.records()) {
      ASSERT_TRUE(kernel_.Publish(0, record.bytes()));
    }
  }

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
