// Tests counting on this machine's kernel. Skips tests for which this process lacks the rights.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "src/count/stat_session.h"
#include "src/machine/events/testing/static_probe.h"

namespace profiler::count {
namespace {

constexpr int kCalls = 1000;
constexpr char kCallMe[] = "PROFILER_TEST_CALLS";
constexpr char kForkMe[] = "PROFILER_TEST_FORKS";

extern "C" {
[[gnu::used, gnu::section(".probes")]] volatile uint16_t counted_semaphore = 0;

// The counted command is this program itself, which then calls this function.
[[gnu::noinline]] void CalledAThousandTimes() {
  STATIC_PROBE("0", "counted", "always", "");
  if (counted_semaphore > 0) STATIC_PROBE("counted_semaphore", "counted", "if_traced", "");
}
}

const bool kIsCommand = [] {
  if (getenv(kCallMe) == nullptr) return false;
  for (int i = 0; i < kCalls; ++i) CalledAThousandTimes();
  _exit(7);
}();

// The counted command that starts a process and a thread.
const bool kIsParent = [] {
  if (getenv(kForkMe) == nullptr) return false;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child == -1) _exit(1);
  waitpid(child, nullptr, 0);
  std::thread([] {}).join();
  CalledAThousandTimes();
  _exit(7);
}();

class LiveCountTest : public testing::Test {
 protected:
  LiveCountTest() : self_(std::filesystem::read_symlink("/proc/self/exe").string()) {
    options_.targets.command = {"/usr/bin/env", absl::StrCat(kCallMe, "=1"), self_};
  }

  // Counts `events`. Returns the count of each event, summed up over all rows.
  std::vector<Count> Counts(const std::string& events) {
    auto found = events::FindEvents({}, events);
    EXPECT_TRUE(found.ok()) << found.status();
    if (!found.ok()) return {};
    options_.events = *std::move(found);
    result_ = RunStat(ringbuf::LinuxKernel(), options_, [this](const auto&, const auto& interval) {
      intervals_.push_back(interval);
    });
    EXPECT_TRUE(result_.ok()) << result_.status();
    if (!result_.ok()) return {};
    std::vector<Count> sums(options_.events.size());
    for (const CountRow& row : result_->runs.back().total.rows) {
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += row.counts[i];
    }
    return sums;
  }

  bool HasUprobes() {
    const auto found = events::FindEvents({}, self_ + ":CalledAThousandTimes");
    if (!found.ok()) return false;
    const auto fd = ringbuf::LinuxKernel().OpenEvent(
        [&] {
          perf_event_attr attr{};
          attr.size = sizeof(attr);
          attr.type = found->front().attr.type;
          attr.config1 = found->front().attr.config1;
          attr.config2 = found->front().attr.config2;
          return attr;
        }(),
        0, -1, -1);
    return fd.ok();
  }

  const std::string self_;
  StatOptions options_;
  absl::StatusOr<StatResult> result_;
  std::vector<CountTable> intervals_;
};

TEST_F(LiveCountTest, AUprobeCountsEveryCall) {
  if (!HasUprobes()) GTEST_SKIP() << "no uprobes here, or not for this user";
  const std::string function = self_ + ":CalledAThousandTimes";
  const auto counts =
      Counts(absl::StrCat("{", function, ",", function, "%return},page-faults:u,", function, "+0"));
  ASSERT_EQ(counts.size(), 4u);
  EXPECT_EQ(counts[0].value, uint64_t{kCalls});
  EXPECT_EQ(counts[1].value, uint64_t{kCalls});
  EXPECT_GT(counts[2].value, 0u);
  EXPECT_EQ(counts[3].value, uint64_t{kCalls});
  EXPECT_EQ(result_->command->exit_code, 7);
  EXPECT_EQ(result_->command->signal, 0);
}

TEST_F(LiveCountTest, AStaticProbeCountsEveryCall) {
  if (!HasUprobes()) GTEST_SKIP() << "no uprobes here, or not for this user";
  const auto counts =
      Counts(absl::StrCat(self_, ":%counted:always,", self_, ":%counted:if_traced"));
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].value, uint64_t{kCalls});
  EXPECT_EQ(counts[1].value, uint64_t{kCalls});
}

TEST_F(LiveCountTest, AProgramWithAUprobeStartsProcessesAndThreads) {
  if (!HasUprobes()) GTEST_SKIP() << "no uprobes here, or not for this user";
  const std::string function = self_ + ":CalledAThousandTimes";
  options_.targets.command = {"/usr/bin/env", absl::StrCat(kForkMe, "=1"), self_};
  const auto counts = Counts(absl::StrCat("{page-faults:u,", function, "},context-switches"));
  ASSERT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts[1].value, 1u);
  EXPECT_EQ(result_->command->exit_code, 7);
  EXPECT_EQ(absl::StrJoin(result_->notes, "\n"),
            function +
                ": threads and processes that start later are not observed, because Linux cannot "
                "inherit probes; -a observes all");
}

TEST_F(LiveCountTest, EachRepetitionIsARunOfItsOwn) {
  options_.repeat = 3;
  const auto counts = Counts("task-clock:u");
  ASSERT_EQ(counts.size(), 1u);
  ASSERT_EQ(result_->runs.size(), 3u);
  for (const StatRun& run : result_->runs) {
    EXPECT_GT(run.total.rows[0].counts[0].value, 0u);
    EXPECT_GT(run.total.duration.count(), 0);
  }
}

TEST_F(LiveCountTest, IntervalsAddUpToTheWhole) {
  options_.interval = std::chrono::milliseconds(1);
  const auto counts = Counts("page-faults:u");
  ASSERT_EQ(counts.size(), 1u);
  uint64_t sum = 0;
  for (const CountTable& interval : intervals_) sum += interval.rows[0].counts[0].value;
  EXPECT_EQ(sum, counts[0].value);
}

TEST_F(LiveCountTest, ACommandThatIsNotThereIsNamed) {
  options_.targets.command = {"no-such-command"};
  options_.events = *events::FindEvents({}, "page-faults:u");
  const auto result = RunStat(ringbuf::LinuxKernel(), options_, nullptr);
  EXPECT_EQ(target::CommandFailure(result.status()), 127);
}

// The test writes all commands before counting begins. So their order does not depend on the
// machine's speed.
class ControlledCountTest : public LiveCountTest {
 protected:
  ControlledCountTest() {
    EXPECT_EQ(pipe(commands_), 0);
    EXPECT_EQ(pipe(answers_), 0);
    options_.control = target::ControlPlaces{.fd = commands_[0], .answer_fd = answers_[1]};
    options_.targets = {};
    options_.targets.pids = {getpid()};
  }
  ~ControlledCountTest() override {
    for (const int fd : {commands_[0], commands_[1], answers_[0], answers_[1]}) close(fd);
  }
  void Say(std::string_view lines) {
    ASSERT_EQ(write(commands_[1], lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
  }
  std::string Answers() {
    char text[64];
    const ssize_t size = read(answers_[0], text, sizeof(text));
    return {text, static_cast<size_t>(std::max<ssize_t>(size, 0))};
  }

  int commands_[2], answers_[2];
};

TEST_F(ControlledCountTest, StopsWhenItIsTold) {
  Say("ping\nstop\n");
  EXPECT_EQ(Counts("task-clock:u").size(), 1u);
  EXPECT_TRUE(result_->stopped);
  EXPECT_EQ(Answers(), "ack\nack\n");
}

TEST_F(ControlledCountTest, CountsNothingUntilItIsEnabled) {
  options_.starts_disabled = true;
  Say("what\nstop\n");
  const auto counts = Counts("task-clock:u");
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].enabled, 0u);
  EXPECT_EQ(result_->notes.size(), 1u);
}

TEST_F(ControlledCountTest, CountsWhileItIsEnabled) {
  options_.starts_disabled = true;
  Say("enable\ndisable\nstop\n");
  const auto counts = Counts("task-clock:u");
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_GT(counts[0].enabled, 0u);
  EXPECT_EQ(Answers(), "ack\nack\nack\n");
}

TEST_F(ControlledCountTest, NobodyCouldBeginWithoutControl) {
  options_.control.reset();
  options_.starts_disabled = true;
  options_.events = *events::FindEvents({}, "task-clock:u");
  EXPECT_TRUE(absl::IsInvalidArgument(
      RunStat(ringbuf::LinuxKernel(), options_, [](const auto&, const auto&) {}).status()));
}

}  // namespace
}  // namespace profiler::count
