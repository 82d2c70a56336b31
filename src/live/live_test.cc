// Tests live recordings on the running kernel. Skips tests for which the kernel forbids recording.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "src/live/live_recording.h"
#include "src/machine/events/find_events.h"
#include "src/profile/testing/profile_text.h"

namespace profiler::live {
namespace {

using namespace std::chrono_literals;

extern "C" {
// A function with a name that the profile must find.
[[gnu::noinline]] void SpinForTheLiveTest() {
  volatile uint64_t sink = 0;
  for (;;) sink = sink + 1;
}
}

// A child that spins until the end of the test.
class Spinner {
 public:
  Spinner() : pid_(fork()) {
    if (pid_ == 0) SpinForTheLiveTest();
  }
  ~Spinner() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};

LiveOptions OptionsFor(pid_t pid) {
  LiveOptions options;
  options.recording.targets.pids = {pid};
  auto events = events::FindEvents({}, "cpu-clock:u");
  EXPECT_TRUE(events.ok());
  options.recording.events = *events;
  options.windows.window = 100ms;
  return options;
}

// Waits until `is_true` holds, at most a minute.
bool Await(const std::function<bool()>& is_true) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!is_true()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

using Waiting = LiveRecording::Waiting;

bool Shows(const Snapshot& snapshot, const std::string& function) {
  return absl::StrContains(profile::RowsText(snapshot.profile), function);
}

TEST(LiveRecording, ShowsNamedSamplesWhileItRuns) {
  const Spinner spinner;
  auto live = LiveRecording::Start(ringbuf::LinuxKernel(), OptionsFor(spinner.pid()));
  if (!live.ok()) {
    GTEST_SKIP() << "recording is not permitted: " << live.status();
  }
  EXPECT_TRUE(Await([&] { return Shows((*live)->history().Get(10s), "SpinForTheLiveTest"); }));
  const LiveOutcome outcome = (*live)->Stop(Waiting::kIsNamed);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  const Snapshot all = (*live)->history().Get(std::nullopt);
  ASSERT_FALSE(all.profile.events.empty());
  EXPECT_EQ(all.profile.events[0].samples, outcome.summary.samples);
}

TEST(LiveRecording, LeavesOutWhatWaitsForNamesIfNobodyWillReadIt) {
  const Spinner spinner;
  LiveOptions options = OptionsFor(spinner.pid());
  options.windows.window = 1h;  // only the end would close it
  auto live = LiveRecording::Start(ringbuf::LinuxKernel(), std::move(options));
  if (!live.ok()) {
    GTEST_SKIP() << "recording is not permitted: " << live.status();
  }
  EXPECT_TRUE(Await([&] { return (*live)->is_naming(); }));
  EXPECT_TRUE((*live)->Stop(Waiting::kIsDropped).status.ok());
  EXPECT_EQ((*live)->history().added(), 0u);
}

TEST(LiveRecording, GoesOnWithTheSameNamesAfterANewBuilderTookOver) {
  const Spinner spinner;
  LiveOptions options = OptionsFor(spinner.pid());
  options.windows.builder = 100ms;
  auto live = LiveRecording::Start(ringbuf::LinuxKernel(), std::move(options));
  if (!live.ok()) {
    GTEST_SKIP() << "recording is not permitted: " << live.status();
  }
  History& history = (*live)->history();
  EXPECT_TRUE(Await([&] { return history.added() >= 10; }));
  EXPECT_TRUE(Await([&] { return Shows(history.Get(300ms), "SpinForTheLiveTest"); }));
  (*live)->Stop(Waiting::kIsNamed);
  // All samples are of one function in one process, whichever builder saw them.
  const Snapshot all = history.Get(std::nullopt);
  for (const profile::Row& row : all.profile.rows) {
    EXPECT_EQ(all.profile[row.thread].pid, static_cast<uint32_t>(spinner.pid()));
  }
}

TEST(LiveRecording, LeavesOutItsHelpersThatRanBefore) {
  const Spinner helper;
  LiveOptions options = OptionsFor(helper.pid());
  options.windows.own_pids = {static_cast<uint32_t>(getpid())};
  auto live = LiveRecording::Start(ringbuf::LinuxKernel(), std::move(options));
  if (!live.ok()) {
    GTEST_SKIP() << "recording is not permitted: " << live.status();
  }
  EXPECT_TRUE(Await([&] { return (*live)->history().Get(std::nullopt).left_out.own > 0; }));
  (*live)->Stop(Waiting::kIsNamed);
  EXPECT_TRUE((*live)->history().Get(std::nullopt).profile.rows.empty());
}

TEST(LiveRecording, ShowsTheCommandThatItStarts) {
  LiveOptions options = OptionsFor(0);
  options.recording.targets.pids = {};
  options.recording.targets.command = {"sh", "-c", "while :; do :; done"};
  options.windows.own_pids = {static_cast<uint32_t>(getpid())};
  auto live = LiveRecording::Start(ringbuf::LinuxKernel(), std::move(options));
  if (!live.ok()) {
    GTEST_SKIP() << "recording is not permitted: " << live.status();
  }
  EXPECT_TRUE(Await([&] { return !(*live)->history().Get(std::nullopt).profile.rows.empty(); }));
  (*live)->Stop(Waiting::kIsNamed);
  EXPECT_EQ((*live)->history().Get(std::nullopt).left_out.own, 0);
}

TEST(LiveRecording, EndsByItselfWhenItsTargetsEnd) {
  std::unique_ptr<Spinner> spinner = std::make_unique<Spinner>();
  auto live = LiveRecording::Start(ringbuf::LinuxKernel(), OptionsFor(spinner->pid()));
  if (!live.ok()) {
    GTEST_SKIP() << "recording is not permitted: " << live.status();
  }
  spinner = nullptr;
  uint64_t ended = 0;
  EXPECT_EQ(read((*live)->ended_fd(), &ended, sizeof(ended)), 8);
  EXPECT_EQ((*live)->Stop(Waiting::kIsNamed).summary.stop_reason,
            record::StopReason::kTargetsExited);
}

TEST(LiveRecording, SaysWhyItCannotBegin) {
  LiveOptions options = OptionsFor(getpid());
  options.recording.targets.pids = {};
  const auto live = LiveRecording::Start(ringbuf::LinuxKernel(), std::move(options));
  EXPECT_EQ(live.status().code(), absl::StatusCode::kInvalidArgument) << live.status();
}

}  // namespace
}  // namespace profiler::live
