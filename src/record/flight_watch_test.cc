#include "src/record/flight_watch.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::record {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(ShareOfSecondTest, MeasuresTheLastSecond) {
  ShareOfSecond share;
  const auto at = [](int ms) { return steady_clock::time_point(milliseconds(ms)); };
  EXPECT_EQ(share.Take(at(0), milliseconds(500)), std::nullopt);
  EXPECT_EQ(share.Take(at(900), milliseconds(500)), std::nullopt);
  EXPECT_EQ(share.Take(at(1000), milliseconds(600)), 10);
  EXPECT_EQ(share.Take(at(1900), milliseconds(1400)), 90);
  EXPECT_EQ(share.Take(at(4000), milliseconds(1400)), 0);
  // A process that ends takes its time with it.
  EXPECT_EQ(share.Take(at(5000), milliseconds(100)), std::nullopt);
}

class FlightWatchTest : public testing::Test {
 protected:
  FlightWatchTest() { tree_.Process(7, 1, "server", ""); }

  std::unique_ptr<FlightWatch> Watch(const std::vector<std::string>& texts) {
    std::vector<FlightTrigger> triggers;
    for (const std::string& text : texts) triggers.push_back(*ParseFlightTrigger(text));
    return std::make_unique<FlightWatch>(
        io_, tree_.roots(), std::move(triggers),
        [this](const FlightTrigger&, const std::string& reason) { reasons_.push_back(reason); });
  }
  std::string Reasons() { return absl::StrJoin(reasons_, "; "); }

  procfs::FakeTree tree_;
  boost::asio::io_context io_;
  std::vector<std::string> reasons_, notes_;
};

TEST_F(FlightWatchTest, KnowsEndsOfProcessesByTheirCodeOrSignal) {
  const auto any = Watch({"exit", "signal"});
  any->TakeEnd({.pid = 7, .code = 0});
  EXPECT_EQ(Reasons(), "");
  any->TakeEnd({.pid = 7, .code = 3});
  any->TakeEnd({.pid = 9, .signal = 11});
  EXPECT_EQ(Reasons(), "process 7 (server) ended by exit code 3; process 9 ended by signal 11");
  reasons_.clear();
  const auto some = Watch({"exit:0", "signal:6"});
  some->TakeEnd({.pid = 9, .code = 3});
  some->TakeEnd({.pid = 9, .signal = 11});
  EXPECT_EQ(Reasons(), "");
  some->TakeEnd({.pid = 9, .code = 0});
  some->TakeEnd({.pid = 9, .signal = 6});
  EXPECT_EQ(Reasons(), "process 9 ended by exit code 0; process 9 ended by signal 6");
}

TEST_F(FlightWatchTest, ALevelThatStaysIsOneEvent) {
  tree_.Write("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n");
  const auto watch = Watch({"psi:cpu>20%"});
  ASSERT_TRUE(watch->Start({}, 0, &notes_).ok());
  int polls = 0;
  // Each turn is a poll. The pressure grows by more than any time that can pass meanwhile.
  for (uint64_t total = 1'000'000; polls < 12; ++polls) {
    total += 3'600'000'000;
    tree_.Write("proc/pressure/cpu", absl::StrCat("some avg10=0.00 total=", total, "\n"));
    io_.run_one();
  }
  ASSERT_EQ(reasons_.size(), 1u);
  EXPECT_TRUE(reasons_[0].starts_with("psi:cpu>20% ("));
}

TEST_F(FlightWatchTest, AProgramThatIsIdleFromItsStartDoesNotGoBelowALimit) {
  const auto write = [this](uint64_t ticks) {
    tree_.Write("proc/stat", absl::StrCat("cpu ", ticks, " 0 0 0 0 0 0 0\ncpu0 0\nintr 0\n"));
  };
  write(0);
  const auto watch = Watch({"cpu<10%"});
  ASSERT_TRUE(watch->Start({}, 0, &notes_).ok());
  for (int polls = 0; polls < 7; ++polls) io_.run_one();
  EXPECT_EQ(Reasons(), "");
  // Busy, and then idle.
  uint64_t ticks = 0;
  for (int polls = 0; polls < 2; ++polls) {
    write(ticks += 1'000'000);
    io_.run_one();
  }
  for (int polls = 0; polls < 7; ++polls) io_.run_one();
  ASSERT_EQ(reasons_.size(), 1u);
  EXPECT_EQ(reasons_[0], "cpu<10% (0 %)");
}

TEST_F(FlightWatchTest, SaysThatTheKernelMeasuresNoPressure) {
  EXPECT_EQ(Watch({"psi:io>20%"})->Start({}, 0, &notes_).message(),
            "--flight-on psi:io>20%: the kernel does not measure pressure; boot it with psi=1, or "
            "choose another trigger");
}

// Returns a message of the process connector.
std::vector<std::byte> Message(const proc_event& event) {
  std::vector<std::byte> message(NLMSG_HDRLEN + sizeof(cn_msg) + sizeof(event));
  std::memcpy(message.data() + NLMSG_HDRLEN + sizeof(cn_msg), &event, sizeof(event));
  return message;
}
std::vector<std::byte> Fork(pid_t parent, pid_t child) {
  proc_event event{};
  event.what = proc_event::PROC_EVENT_FORK;
  event.event_data.fork.parent_tgid = parent;
  event.event_data.fork.child_pid = event.event_data.fork.child_tgid = child;
  return Message(event);
}
std::vector<std::byte> Exit(pid_t pid, pid_t tid, int status, pid_t parent = 1) {
  proc_event event{};
  event.what = proc_event::PROC_EVENT_EXIT;
  event.event_data.exit.process_tgid = pid;
  event.event_data.exit.process_pid = tid;
  event.event_data.exit.exit_code = static_cast<uint32_t>(status);
  event.event_data.exit.parent_tgid = parent;
  return Message(event);
}

class ProcessEndsTest : public testing::Test {
 protected:
  // Watches, even if this user may not open the connector.
  void Watch(const std::vector<pid_t>& pids) {
    ends_
        .Watch(pids,
               [this](const ProcessEnd& end) {
                 if (end.pid >= kFirst) {
                   absl::StrAppend(&text_, end.pid, " ", end.code, " ", end.signal, "; ");
                 }
               })
        .IgnoreError();
  }

  // No process of this machine has such a number.
  static constexpr pid_t kFirst = 1 << 23;
  boost::asio::io_context io_;
  ProcessEnds ends_{io_};
  std::string text_;
};

TEST_F(ProcessEndsTest, ReportsTheWatchedProcessesAndTheirDescendants) {
  Watch({kFirst});
  ends_.Take(Fork(kFirst, kFirst + 1));
  ends_.Take(Fork(kFirst + 1, kFirst + 2));
  ends_.Take(Fork(kFirst + 8, kFirst + 9));
  ends_.Take(Exit(kFirst + 9, kFirst + 9, 0x300));
  ends_.Take(Exit(kFirst + 2, kFirst + 3, 0));
  ends_.Take(Exit(kFirst + 2, kFirst + 2, 11));
  ends_.Take(Exit(kFirst, kFirst, 0x300));
  EXPECT_EQ(text_, absl::StrCat(kFirst + 2, " 0 11; ", kFirst, " 3 0; "));
}

TEST_F(ProcessEndsTest, LeavesOutOurOwnHelpersOnTheWholeMachine) {
  Watch({});
  ends_.Take(Exit(kFirst, kFirst, 0x300));
  ends_.Take(Exit(kFirst + 1, kFirst + 1, 0x300, getpid()));
  EXPECT_EQ(text_, absl::StrCat(kFirst, " 3 0; "));
}

TEST_F(ProcessEndsTest, PassesOverMessagesThatAreCutShort) {
  Watch({});
  const std::vector<std::byte> message = Exit(kFirst, kFirst, 0x300);
  for (size_t size = 0; size < message.size(); ++size) ends_.Take(std::span(message).first(size));
  EXPECT_EQ(text_, "");
}

}  // namespace
}  // namespace profiler::record
