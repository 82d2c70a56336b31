// Runs the agent on this machine. Needs the right to record the machine; without it, the test
// prints the parts that it skips.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/fleet/agent/agent.h"
#include "src/fleet/segments/segment_directory.h"
#include "src/fleet/segments/testing/window_text.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/machine/events/find_events.h"

namespace profiler::agent {
namespace {

using std::chrono::steady_clock;

// A function whose name must be in the segments.
__attribute__((noinline)) uint64_t SpinForTheAgent(uint64_t rounds) {
  volatile uint64_t sum = 0;
  for (uint64_t i = 0; i < rounds; ++i) sum = sum + i * i;
  return sum;
}

class AgentLiveTest : public testing::Test {
 protected:
  AgentLiveTest()
      : spool_(testing::TempDir() + "/agent-" +
               testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(spool_);
    options_.recording.events.push_back(events::FindEvents({}, "cpu-clock")->front());
    options_.window = std::chrono::seconds(1);
    options_.rates = {.least = 49, .most = 49, .first = 49};
    options_.budget = 1;
    options_.spool = spool_;
    options_.host = "h1";
    options_.labels = {"region=eu"};
    options_.version = "profiler test";
    options_.naming.lines = options_.naming.inlines = false;
    options_.say = [](std::string_view line) {
      std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
    };
  }

  // Starts the agent in a child process; its exit code reports errors.
  pid_t Start() {
    const pid_t child = fork();
    if (child != 0) return child;
    const absl::Status status = RunAgent(ringbuf::LinuxKernel(), options_);
    if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    _exit(status.ok() ? 0 : absl::IsPermissionDenied(status) ? 77 : 1);
  }

  size_t Segments() const {
    const auto directory = fleet::SegmentDirectory::Open(spool_);
    return directory.ok() ? directory->List(INT64_MIN, INT64_MAX)->size() : 0;
  }

  // Uses CPU time until there are `segments` segments. Returns false if the agent ends earlier, or
  // if it takes more than two minutes.
  bool SpinUntil(size_t segments, pid_t agent) {
    return SpinWhile([&] { return Segments() < segments; }, agent);
  }

  // Uses CPU time while the condition is true; see SpinUntil.
  bool SpinWhile(const std::function<bool()>& condition, pid_t agent) {
    const auto began = steady_clock::now();
    while (condition()) {
      SpinForTheAgent(10'000'000);
      if (waitpid(agent, &end_, WNOHANG) == agent) return false;
      if (steady_clock::now() - began > std::chrono::minutes(2)) return false;
    }
    return true;
  }

  bool IsForbidden() const { return WIFEXITED(end_) && WEXITSTATUS(end_) == 77; }

  const std::string spool_;
  AgentOptions options_;
  int end_ = 0;
};

TEST_F(AgentLiveTest, KeepsWhatThisMachineDoesByName) {
  const pid_t agent = Start();
  if (!SpinUntil(2, agent)) {
    if (IsForbidden()) GTEST_SKIP() << "skipped: this machine may not be recorded as a whole";
    FAIL() << "no segments";
  }
  kill(agent, SIGTERM);
  ASSERT_EQ(waitpid(agent, &end_, 0), agent);
  EXPECT_TRUE(WIFEXITED(end_) && WEXITSTATUS(end_) == 0) << end_;
  const auto directory = fleet::SegmentDirectory::Open(spool_);
  ASSERT_TRUE(directory.ok());
  std::string rows;
  uint64_t chains = 0;
  const auto files = directory->List(INT64_MIN, INT64_MAX);
  ASSERT_TRUE(files.ok());
  for (const fleet::SegmentFile& file : *files) {
    const auto window = directory->Read(file);
    ASSERT_TRUE(window.ok()) << window.status();
    EXPECT_EQ(window->host, "h1");
    EXPECT_EQ(window->labels.front().second, "eu");
    EXPECT_EQ(window->frequency, 49);
    chains += window->losses.chains;
    rows += fleet::RowsAsText(*window);
  }
  EXPECT_GT(chains, 0u);
  EXPECT_NE(rows.find("SpinForTheAgent"), std::string::npos) << rows;
  EXPECT_NE(rows.find("[kernel.kallsyms]"), std::string::npos) << rows;
  std::ifstream metrics(spool_ + "/metrics.prom");
  const std::string text(std::istreambuf_iterator<char>(metrics), {});
  EXPECT_NE(text.find("profiler_agent_info{version=\"profiler test\"} 1\n"), std::string::npos);
}

TEST_F(AgentLiveTest, KilledAtAnyMomentItLeavesWholeSegments) {
  for (size_t round = 1; round <= 2; ++round) {
    const pid_t agent = Start();
    if (!SpinUntil(round, agent)) {
      if (IsForbidden()) GTEST_SKIP() << "skipped: this machine may not be recorded as a whole";
      FAIL() << "no segments";
    }
    kill(agent, SIGKILL);
    ASSERT_EQ(waitpid(agent, &end_, 0), agent);
    const auto directory = fleet::SegmentDirectory::Open(spool_);
    ASSERT_TRUE(directory.ok());
    const auto files = directory->List(INT64_MIN, INT64_MAX);
    ASSERT_TRUE(files.ok());
    for (const fleet::SegmentFile& file : *files) {
      EXPECT_TRUE(directory->Read(file).ok()) << file.name;
    }
  }
}

TEST_F(AgentLiveTest, ATriggerWritesAMomentBesideTheSegments) {
  options_.moments = options_.recording;
  options_.moments->frequency = 199;
  options_.moments->flight = record::FlightOptions{
      .before = std::chrono::seconds(10),
      .bytes = uint64_t{8} << 20,
      .triggers = {
          {.kind = record::FlightTrigger::Kind::kCpuAbove, .percent = 1, .text = "cpu>1%"}}};
  const pid_t agent = Start();
  const auto files = [&] {
    std::vector<std::string> paths;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(spool_ + "/moments", error), end;
         !error && entry != end; entry.increment(error)) {
      if (entry->path().extension() != ".part") paths.push_back(entry->path().string());
    }
    return paths;
  };
  if (!SpinWhile([&] { return files().empty() || Segments() == 0; }, agent)) {
    if (IsForbidden()) GTEST_SKIP() << "skipped: this machine may not be recorded as a whole";
    FAIL() << "no moment, or no segment";
  }
  kill(agent, SIGTERM);
  ASSERT_EQ(waitpid(agent, &end_, 0), agent);
  EXPECT_TRUE(WIFEXITED(end_) && WEXITSTATUS(end_) == 0) << end_;
  ASSERT_EQ(files().size(), 1u);
  const auto moment = perf_data::Recording::Open(files().front());
  ASSERT_TRUE(moment.ok()) << moment.status();
  const auto recorder = perf_data::ReadRecorder((*moment)->features());
  ASSERT_TRUE(recorder && recorder->moment);
  EXPECT_EQ(recorder->moment->reason.rfind("cpu>1% (", 0), 0u) << recorder->moment->reason;
}

TEST_F(AgentLiveTest, ASpoolHasOneAgent) {
  auto spool = fleet::SegmentSpool::Open(spool_, {});
  ASSERT_TRUE(spool.ok());
  const absl::Status status = RunAgent(ringbuf::LinuxKernel(), options_);
  EXPECT_EQ(std::string(status.message()),
            spool_ + ": another agent already writes to this spool; give each agent its own");
}

}  // namespace
}  // namespace profiler::agent
