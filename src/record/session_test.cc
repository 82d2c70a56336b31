// Tests the session on a kernel in memory. Its io_context, signals, processes and files are real.

#include "src/record/session.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ringbuf/testing/fake_kernel.h"
#include "src/format/perf_data/format/feature_values.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/format/perf_event/branch_filter.h"
#include "src/format/perf_event/describe.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/machine/events/find_events.h"
#include "src/machine/procfs/testing/fake_tree.h"
#include "src/record/return_probes.h"
#include "src/record/testing/recorded_file.h"
#include "src/record/testing/two_cpu_machine.h"

namespace profiler::record {
namespace {

using Call = ringbuf::FakeKernel::Call;

class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    WriteTwoCpuMachine(tree_, "2");
    options_.roots = tree_.roots();
    options_.output = tree_.path("perf.data");
    options_.events.push_back(Event("cpu-clock"));
    options_.cmdline = {"profiler", "record"};
  }

  events::FoundEvent Event(const char* name) {
    return events::FindEvents(tree_.roots(), name)->front();
  }

  // Makes this process the target and adds it to the fake tree.
  void TargetSelf() {
    tree_.Process(getpid(), 1, "self", "");
    options_.targets.pids = {getpid()};
  }

  absl::StatusOr<std::unique_ptr<RecordSession>> Create() {
    return RecordSession::Create(kernel_, options_);
  }

  // Runs the session and stops it in the first turn of its loop, so the recording has the present
  // contents of the rings.
  absl::Status RunAndStop(RecordSession& session) {
    session.RequestStop();
    return session.Run();
  }

  void Publish(int cpu, uint64_t time, uint64_t id = 2) { PublishSample(kernel_, cpu, time, id); }

  // Collects complete files in `files_`, and calls `then` with the number of files each time.
  void CollectFiles(std::function<void(size_t)> then) {
    options_.on_file = [this, then = std::move(then)](CompleteFile file) {
      files_.push_back(std::move(file));
      then(files_.size());
    };
  }

  // Lists the files beside the fake trees, sorted by name.
  std::vector<std::string> FilesThere() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(tree_.path("."))) {
      if (entry.is_regular_file()) paths.push_back(tree_.path(entry.path().filename().string()));
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  std::string Notes(const RecordSession& session) {
    return absl::StrJoin(session.summary().notes, "\n");
  }

  procfs::FakeTree tree_;
  ringbuf::FakeKernel kernel_;
  RecordOptions options_;
  std::vector<CompleteFile> files_;
};

TEST_F(SessionTest, SaysThatAContainerDoesNotTellOthersThreadsApart) {
  tree_.Link("proc/self/ns/pid", "pid:[4026532301]");
  const auto notes_of = [this](bool system_wide) {
    options_.targets.system_wide = system_wide;
    if (!system_wide) options_.targets.pids = {1};
    auto session = Create();
    return session.ok() ? absl::StrJoin((*session)->summary().notes, "\n") : "";
  };
  EXPECT_THAT(
      notes_of(true),
      testing::HasSubstr("profiler runs in a container, so threads outside of it have no ids"));
  EXPECT_THAT(notes_of(false), testing::Not(testing::HasSubstr("in a container")));
}

TEST_F(SessionTest, WritesWhatRunsThenWhatTheRingsHold) {
  options_.targets.system_wide = true;
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  Publish(0, 500);
  Publish(1, 300);
  Publish(1, 700);
  ASSERT_TRUE(RunAndStop(**session).ok());
  const RecordSummary& summary = (*session)->summary();
  EXPECT_EQ(summary.samples, 3u);
  EXPECT_EQ(summary.lost, 0u);
  EXPECT_EQ(summary.stop_reason, StopReason::kRequested);
  EXPECT_EQ(summary.bytes, std::filesystem::file_size(options_.output));

  const RecordedFile file = ReadBack(options_.output);
  EXPECT_EQ(file.count("SAMPLE"), 3);
  EXPECT_EQ(file.count("COMM"), 1);
  EXPECT_EQ(file.count("FORK"), 1);
  EXPECT_EQ(file.count("MMAP2"), 1);
  EXPECT_EQ(file.count("FINISHED_ROUND"), 2);
  EXPECT_EQ(absl::StrJoin(file.events, " "), "cpu-clock dummy");
  EXPECT_EQ(file.features.hostname, "box");
  EXPECT_EQ(absl::StrJoin(file.features.cmdline, " "), "profiler record");
  ASSERT_TRUE(file.features.sample_time.has_value());
  EXPECT_EQ(file.features.sample_time->first, 300u);
  EXPECT_EQ(file.features.sample_time->last, 700u);
  ASSERT_TRUE(file.features.clock_data.has_value());
  EXPECT_EQ(file.features.clock_data->clockid, 1u);
}

TEST_F(SessionTest, SaysThatAnEventHasNoBranchStacks) {
  options_.targets.system_wide = true;
  options_.contents.branches = perf_event::kBranchAny;
  kernel_.FailCall(Call::kOpenEvent, 1, EOPNOTSUPP);
  const auto status = Create().status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(
      std::string(status.message()),
      testing::StartsWith("event cpu-clock: branch stacks (-b, -j) are not available here; "));
}

TEST_F(SessionTest, DoesNotTakeAClockInsteadOfCyclesForBranches) {
  TargetSelf();
  options_.events = *events::FindEvents(tree_.roots(), "cycles");
  options_.contents.branches = perf_event::kBranchAny;
  kernel_.FailCall(Call::kOpenEvent, 1, ENOENT);
  EXPECT_THAT(std::string(Create().status().message()),
              testing::StartsWith("event cycles: branch stacks (-b, -j) are not available here"));
}

TEST_F(SessionTest, SamplesHaveWhatIsAskedForAndNoMore) {
  TargetSelf();
  const auto asked = [&](const SampleContents& contents) {
    options_.contents = contents;
    auto session = Create();
    EXPECT_TRUE(session.ok()) << session.status();
    EXPECT_TRUE(RunAndStop(**session).ok());
    const auto recording = *perf_data::Recording::Open(options_.output);
    constexpr uint64_t kAlways = perf_event::kSampleIdentifier | perf_event::kSampleIp |
                                 perf_event::kSampleTid | perf_event::kSampleTime |
                                 perf_event::kSampleCpu | perf_event::kSamplePeriod;
    return perf_event::DescribeSampleType(recording->events()[0].attr.sample_type & ~kAlways);
  };
  EXPECT_EQ(asked({}), "");
  EXPECT_EQ(asked({.data_address = true}), "ADDR|DATA_SRC");
  EXPECT_EQ(asked({.physical_address = true}), "PHYS_ADDR");
  EXPECT_EQ(asked({.weight = true}), "WEIGHT_STRUCT");
  EXPECT_EQ(asked({.cgroup = true}), "CGROUP");
  EXPECT_EQ(asked({.branches = perf_event::kBranchAny}), "BRANCH_STACK");
}

TEST_F(SessionTest, AnOlderKernelHasTheWholeWeight) {
  TargetSelf();
  options_.contents.weight = true;
  kernel_.FailCall(Call::kOpenEvent, 1, EINVAL);
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(RunAndStop(**session).ok());
  const auto recording = *perf_data::Recording::Open(options_.output);
  const uint64_t sample_type = recording->events()[0].attr.sample_type;
  EXPECT_NE(sample_type & perf_event::kSampleWeight, 0u);
  EXPECT_EQ(sample_type & perf_event::kSampleWeightStruct, 0u);
}

TEST_F(SessionTest, OpensTheSidebandEnabledAndOwningTheRings) {
  options_.targets.system_wide = true;
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  const std::string events = kernel_.Describe();
  EXPECT_NE(events.find("config 9 enabled owns the ring"), std::string::npos) << events;
  EXPECT_NE(events.find("config 0 disabled"), std::string::npos) << events;
  EXPECT_EQ(events.find("config 0 enabled"), std::string::npos) << events;
}

TEST_F(SessionTest, CountsWhatTheKernelLost) {
  options_.targets.system_wide = true;
  options_.ring_bytes = 4096;
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  const auto filler = ringbuf::MakeRecord(perf_event::kRecordSample, 2032);
  ASSERT_TRUE(kernel_.Publish(0, filler));
  ASSERT_FALSE(kernel_.Publish(0, ringbuf::MakeRecord(perf_event::kRecordSample, 3000)));
  ASSERT_FALSE(kernel_.Publish(0, ringbuf::MakeRecord(perf_event::kRecordSample, 3000)));
  ASSERT_TRUE(kernel_.Publish(0, ringbuf::MakeRecord(perf_event::kRecordSample, 40)));
  ASSERT_TRUE(RunAndStop(**session).ok());
  EXPECT_EQ((*session)->summary().samples, 2u);
  EXPECT_EQ((*session)->summary().lost, 2u);
  EXPECT_EQ((*session)->summary().lost_chunks, 1u);
}

TEST_F(SessionTest, FallsBackToUserSpaceAndNamesWhatLiftsThat) {
  TargetSelf();
  kernel_.FailCall(Call::kOpenEvent, 1, EACCES);
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(RunAndStop(**session).ok());
  EXPECT_EQ((*session)->summary().notes.size(), 1u);
  EXPECT_NE(Notes(**session).find("`sudo sysctl kernel.perf_event_paranoid=1` allows it (now 2)"),
            std::string::npos)
      << Notes(**session);
  EXPECT_EQ(ReadBack(options_.output).events.front(), "cpu-clock:u");
}

TEST_F(SessionTest, AsksForNoKernelChainsWhereEvenThoseOfUserSpaceNeedARight) {
  TargetSelf();
  options_.call_graph = CallGraph::kFramePointers;
  kernel_.FailCall(Call::kOpenEvent, 1, EACCES);
  kernel_.FailCall(Call::kOpenEvent, 2, EACCES);
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(RunAndStop(**session).ok());
  const auto recording = perf_data::Recording::Open(options_.output);
  ASSERT_TRUE(recording.ok());
  const perf_event::Attr& attr = (*recording)->events().front().attr;
  EXPECT_TRUE(attr.has(perf_event::kAttrExcludeKernel));
  EXPECT_TRUE(attr.has(perf_event::kAttrExcludeCallchainKernel));
}

TEST_F(SessionTest, SamplesCountsWithoutWhatIsStartedWhereTheKernelReadsNoneThere) {
  TargetSelf();
  options_.events = *events::FindEvents(tree_.roots(), "{cpu-clock,page-faults}:S");
  kernel_.FailCall(Call::kOpenEvent, 1, EINVAL);
  kernel_.FailCall(Call::kOpenEvent, 3, EINVAL);
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  const std::string notes = Notes(**session), note = "not in threads that start later";
  EXPECT_NE(notes.find(note), std::string::npos) << notes;
  EXPECT_EQ(notes.find(note), notes.rfind(note)) << notes;
  ASSERT_TRUE(RunAndStop(**session).ok());
  const auto recording = perf_data::Recording::Open(options_.output);
  ASSERT_TRUE(recording.ok());
  for (size_t i = 0; i < 2; ++i) {
    const perf_event::Attr& attr = (*recording)->events()[i].attr;
    EXPECT_FALSE(attr.has(perf_event::kAttrInherit));
    EXPECT_NE(attr.sample_type & perf_event::kSampleRead, 0u);
  }
}

TEST_F(SessionTest, TakesCpuClockWhereThereAreNoHardwareCounters) {
  TargetSelf();
  options_.events = {Event("cycles")};
  kernel_.FailCall(Call::kOpenEvent, 1, ENOENT);
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_NE(Notes(**session).find("recording cpu-clock instead"), std::string::npos);
  ASSERT_TRUE(RunAndStop(**session).ok());
  EXPECT_EQ(ReadBack(options_.output).events.front(), "cpu-clock");
}

TEST_F(SessionTest, AGroupIsOpenedAsOneAndTheFileTellsOfIt) {
  TargetSelf();
  options_.events = *events::FindEvents(tree_.roots(), "cs,mine{cpu-clock,faults}:S");
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_NE(kernel_.Describe().find("config 2 enabled in the group of"), std::string::npos)
      << kernel_.Describe();
  ASSERT_TRUE(RunAndStop(**session).ok());
  const RecordedFile file = ReadBack(options_.output);
  const auto groups = perf_data::ReadGroups(file.features);
  ASSERT_TRUE(groups.has_value());
  ASSERT_EQ(groups->size(), 1u);
  EXPECT_EQ(groups->front().name, "mine");
  EXPECT_EQ(groups->front().leader, 1u);
  EXPECT_EQ(groups->front().members, 2u);
}

// An event's own terms decide its rate. Without them, the options for all events decide; without
// such options, the default for events of its kind.
TEST_F(SessionTest, EachEventIsSampledAtItsOwnRate) {
  TargetSelf();
  tree_.Write("sys/kernel/tracing/events/sched/sched_switch/id", "372\n")
      .Write("sys/kernel/tracing/events/sched/sched_switch/format", "name: sched_switch\n");
  const auto rates = [&] {
    options_.events =
        *events::FindEvents(tree_.roots(), "cs,cs/period=7/,cs/freq=50/,sched:sched_switch");
    auto session = Create();
    EXPECT_TRUE(session.ok()) << session.status();
    EXPECT_TRUE(RunAndStop(**session).ok());
    std::string text;
    const auto recording = *perf_data::Recording::Open(options_.output);
    for (const auto& event : recording->events()) {
      const bool is_frequency = event.attr.has(perf_event::kAttrFreq);
      absl::StrAppend(&text, event.attr.sample_period, is_frequency ? " Hz, " : ", ");
    }
    return text;
  };
  EXPECT_EQ(rates(), "999 Hz, 7, 50 Hz, 1, 1, ");
  options_.frequency = 100;
  options_.rate_is_asked_for = true;
  EXPECT_EQ(rates(), "100 Hz, 7, 50 Hz, 100 Hz, 1, ");
  EXPECT_NE(ReadBack(options_.output)
                .features.other[perf_data::kFeatureTracingData]
                .find("name: sched_switch"),
            std::string::npos);
}

TEST_F(SessionTest, OneTracepointIsTriedForAll) {
  TargetSelf();
  for (const char* name : {"one", "two", "three"}) {
    tree_.Write(absl::StrCat("sys/kernel/tracing/events/many/", name, "/id"), "5\n")
        .Write(absl::StrCat("sys/kernel/tracing/events/many/", name, "/format"), "name: x\n");
  }
  const auto opened = [&](const char* events) {
    options_.events = *events::FindEvents(tree_.roots(), events);
    const uint64_t before = kernel_.calls(Call::kOpenEvent);
    EXPECT_TRUE(Create().ok());
    return kernel_.calls(Call::kOpenEvent) - before;
  };
  // The second event is opened once on each of two CPUs, and is not tried beforehand.
  EXPECT_EQ(opened("many:one,many:two") - opened("many:one"), 2u);
  EXPECT_EQ(opened("many:*") - opened("many:one"), 4u);
}

TEST_F(SessionTest, ClampsAFrequencyOverTheLimit) {
  TargetSelf();
  options_.frequency = 250000;
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_NE(Notes(**session).find("sampling at 100000 Hz"), std::string::npos) << Notes(**session);
  options_.frequency = RecordOptions::kMaxFrequency;
  session->reset();
  session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(Notes(**session), "");
}

TEST_F(SessionTest, RefusesAFrequencyOverTheLimitWhereItIsStrict) {
  TargetSelf();
  options_.frequency = 250000;
  options_.strict_frequency = true;
  EXPECT_EQ(Create().status().message(),
            "--strict-freq: 250000 Hz exceeds the kernel's limit of 100000 Hz; `sudo sysctl "
            "kernel.perf_event_max_sample_rate=250000` raises the limit");
  options_.frequency = 100000;
  EXPECT_TRUE(Create().ok());
}

TEST_F(SessionTest, TakesNoSamplesAndRecordsOnePartOfChains) {
  TargetSelf();
  const auto written = [&] {
    auto session = Create();
    EXPECT_TRUE(session.ok()) << session.status();
    EXPECT_TRUE(RunAndStop(**session).ok());
    return (*perf_data::Recording::Open(options_.output))->events();
  };
  options_.namespaces = options_.data_mappings = true;
  options_.takes_samples = false;
  options_.call_graph = CallGraph::kFramePointers;
  options_.chain_part = ChainPart::kUser;
  const auto events = written();
  EXPECT_EQ(events[0].attr.sample_period, 0u);
  EXPECT_FALSE(events[0].attr.has(perf_event::kAttrFreq));
  EXPECT_TRUE(events[0].attr.has(perf_event::kAttrExcludeCallchainKernel));
  EXPECT_FALSE(events[0].attr.has(perf_event::kAttrExcludeCallchainUser));
  EXPECT_TRUE(events.back().attr.has(perf_event::kAttrNamespaces));
  EXPECT_TRUE(events.back().attr.has(perf_event::kAttrMmapData));
  options_.chain_part = ChainPart::kKernel;
  EXPECT_TRUE(written()[0].attr.has(perf_event::kAttrExcludeCallchainUser));
}

TEST_F(SessionTest, ShrinksItsOwnChoiceOfRingAndSaysSo) {
  options_.targets.system_wide = true;
  kernel_.SetLargestRing(16);
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_NE(Notes(**session).find("rings of 64 KiB per CPU instead of 512 KiB"), std::string::npos)
      << Notes(**session);
}

TEST_F(SessionTest, RefusesARingThatWasAskedForAndDoesNotFit) {
  options_.targets.system_wide = true;
  options_.ring_bytes = 1 << 20;
  kernel_.SetLargestRing(16);
  const auto session = Create();
  EXPECT_NE(session.status().ToString().find("kernel.perf_event_mlock_kb"), std::string::npos)
      << session.status();
}

TEST_F(SessionTest, LeavesOutThreadsThatExitDuringAttach) {
  TargetSelf();
  tree_.Thread(getpid(), 1000001, "gone").Thread(getpid(), 1000002, "here");
  kernel_.SetThreadGone(1000001);
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  const std::string events = kernel_.Describe();
  EXPECT_EQ(events.find("tid 1000001"), std::string::npos) << events;
  EXPECT_NE(events.find("tid 1000002"), std::string::npos) << events;
}

TEST_F(SessionTest, NamesWhatIsMissing) {
  EXPECT_NE(Create().status().message().find("nothing to record"), std::string::npos);
  options_.targets.pids = {4711};
  EXPECT_EQ(Create().status().message(), "process 4711: No such process");
  options_.targets.pids.clear();
  options_.targets.system_wide = true;
  options_.targets.cpus = {0, 7};
  EXPECT_EQ(Create().status().message(), "CPU 7 is not online; online CPUs: 0,1");
  options_.targets.cpus.clear();
  kernel_.FailCall(Call::kOpenEvent, 1, EACCES);
  kernel_.FailCall(Call::kOpenEvent, 2, EACCES);
  EXPECT_NE(Create().status().message().find("`sudo sysctl kernel.perf_event_paranoid=0` (now 2)"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(options_.output));
}

TEST_F(SessionTest, HandsOnHowTheCommandEnded) {
  options_.targets.command = {"sh", "-c", "exit 3"};
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().stop_reason, StopReason::kCommandExited);
  ASSERT_TRUE((*session)->summary().command.has_value());
  EXPECT_EQ((*session)->summary().command->exit_code, 3);

  options_.targets.command = {"sh", "-c", "kill -KILL $$"};
  session->reset();
  session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().command->signal, SIGKILL);
}

TEST_F(SessionTest, SaysThatACommandCannotBeStartedBeforeItTouchesTheFile) {
  options_.targets.command = {"no-such-command-anywhere"};
  EXPECT_EQ(Create().status().message(), "command 'no-such-command-anywhere' was not found");
  EXPECT_EQ(target::CommandFailure(Create().status()), 127);
  tree_.Write("text", "");
  options_.targets.command = {tree_.path("text")};
  EXPECT_EQ(target::CommandFailure(Create().status()), 126);
  EXPECT_FALSE(std::filesystem::exists(options_.output));
}

TEST_F(SessionTest, SaysThatACommandCannotBeExecuted) {
  tree_.Write("program", std::string("\177ELFnot", 7));
  std::filesystem::permissions(tree_.path("program"), std::filesystem::perms::owner_all);
  options_.targets.command = {tree_.path("program")};
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  // If the kernel cannot execute a file, execvp hands it to the shell, which fails in its own way.
  const absl::Status status = (*session)->Run();
  EXPECT_TRUE(!status.ok() || (*session)->summary().command->exit_code != 0);
}

TEST_F(SessionTest, EndsWithItsTargets) {
  std::array<int, 2> pipe_fds;
  ASSERT_EQ(pipe(pipe_fds.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_fds[1]);
    char byte;
    _exit(read(pipe_fds[0], &byte, 1) < 0);
  }
  close(pipe_fds[0]);
  tree_.Process(child, 1, "child", "");
  options_.targets.pids = {child};
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  close(pipe_fds[1]);
  EXPECT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().stop_reason, StopReason::kTargetsExited);
  waitpid(child, nullptr, 0);
}

TEST_F(SessionTest, EndsTheCommandWhenItsDurationIsOver) {
  options_.targets.command = {"sleep", "1000"};
  options_.duration = std::chrono::milliseconds(1);
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().stop_reason, StopReason::kDuration);
  EXPECT_EQ((*session)->summary().command->signal, SIGTERM);
  EXPECT_TRUE((*session)->summary().command->ended_by_us);
}

TEST_F(SessionTest, CompletesTheFileBeforeItWaitsForACommandThatRunsOn) {
  std::array<int, 2> pipe_fds;
  ASSERT_EQ(pipe(pipe_fds.data()), 0);
  // The command ignores SIGTERM, and ends when the test allows it.
  const std::string read_end = std::to_string(pipe_fds[0]);
  options_.targets.command = {"sh", "-c",
                              "trap '' TERM; kill -TERM $PPID; read line <&" + read_end};
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->Run().ok());
  EXPECT_TRUE((*session)->summary().command_runs_on);
  EXPECT_FALSE((*session)->summary().command.has_value());
  EXPECT_TRUE(ReadBack(options_.output).opened);
  close(pipe_fds[0]);
  ASSERT_EQ(write(pipe_fds[1], "\n", 1), 1);
  EXPECT_TRUE((*session)->AwaitCommand().ok());
  EXPECT_FALSE((*session)->summary().command_runs_on);
  EXPECT_EQ((*session)->summary().command->exit_code, 0);
  close(pipe_fds[1]);
}

TEST_F(SessionTest, StopsAtASignalAndPassesItOn) {
  options_.targets.command = {"sh", "-c", "kill -TERM $PPID; exec sleep 1000"};
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().stop_reason, StopReason::kSignal);
  EXPECT_EQ((*session)->summary().stop_signal, SIGTERM);
  EXPECT_EQ((*session)->summary().command->signal, SIGTERM);
  EXPECT_FALSE((*session)->summary().command->ended_by_us);
  EXPECT_TRUE(ReadBack(options_.output).opened);
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  EXPECT_FALSE(sigismember(&mask, SIGTERM));
}

TEST_F(SessionTest, KeepsWhatWasWrittenWhenTheDiskIsFull) {
  options_.targets.system_wide = true;
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  signal(SIGXFSZ, SIG_IGN);
  rlimit former;
  getrlimit(RLIMIT_FSIZE, &former);
  const rlimit full{std::filesystem::file_size(options_.output), former.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  Publish(0, 500);
  const absl::Status status = RunAndStop(**session);
  setrlimit(RLIMIT_FSIZE, &former);
  EXPECT_EQ(ErrnoOf(status), EFBIG) << status;
  EXPECT_EQ((*session)->summary().stop_reason, StopReason::kError);
  EXPECT_EQ((*session)->summary().samples, 0);
  EXPECT_EQ((*session)->summary().lost, 1) << "it did not reach the disk";
  const RecordedFile file = ReadBack(options_.output);
  EXPECT_EQ(file.count("COMM"), 1);
  EXPECT_EQ(file.count("SAMPLE"), 0);
}

TEST_F(SessionTest, EndsWhenTheFileIsAsLargeAsItMayBe) {
  options_.targets.system_wide = true;
  options_.max_bytes = 1;
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  Publish(0, 500);
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().stop_reason, StopReason::kMaxSize);
  EXPECT_EQ(ReadBack(options_.output).count("SAMPLE"), 1);
}

TEST_F(SessionTest, TimesAreThoseOfTheClockThatIsAskedFor) {
  options_.targets.system_wide = true;
  options_.clock = CLOCK_BOOTTIME;
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(RunAndStop(**session).ok());
  const RecordedFile file = ReadBack(options_.output);
  ASSERT_TRUE(file.features.clock_data.has_value());
  EXPECT_EQ(file.features.clock_data->clockid, 7u);
  options_.call_graph = CallGraph::kDwarf;
  EXPECT_NE(Create().status().message().find("CLOCK_MONOTONIC"), std::string::npos);
}

extern "C" [[gnu::noipa]] void FunctionWithAProbe() { asm volatile("nop"); }

TEST_F(SessionTest, AReturnProbeHasACompanionThatIsInNoFile) {
  if (!HasCompanions()) GTEST_SKIP() << "return addresses are not on the stack";
  FunctionWithAProbe();  // the call keeps the linker from dropping the function
  tree_.Write("sys/bus/event_source/devices/uprobe/type", "8\n")
      .Write("sys/bus/event_source/devices/uprobe/format/retprobe", "config:0\n");
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  options_.events.push_back(Event((self + ":FunctionWithAProbe%return").c_str()));
  options_.events.back().leader = 1;
  options_.targets.system_wide = true;
  const auto count_companions = [this] {
    int count = 0;
    for (const absl::string_view line : absl::StrSplit(kernel_.Describe(), '\n')) {
      count += absl::StrContains(line, " config 0 enabled") ? 1 : 0;
    }
    return count;
  };
  options_.call_graph = CallGraph::kDwarf;
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(count_companions(), 2) << kernel_.Describe();  // one companion for each CPU
  ASSERT_TRUE(RunAndStop(**session).ok());
  const RecordedFile file = ReadBack(options_.output);
  ASSERT_EQ(file.events.size(), 3u);
  EXPECT_EQ(file.events[0], "cpu-clock");
  EXPECT_EQ(file.events[1], self + ":FunctionWithAProbe%return");
  session->reset();
  // There is no companion if functions may be entered on an unobserved CPU, or if the kernel makes
  // the chains.
  options_.targets.cpus = {1};
  session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(count_companions(), 0);
  session->reset();
  options_.targets.cpus.clear();
  options_.call_graph = CallGraph::kFramePointers;
  session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(count_companions(), 0);
}

TEST_F(SessionTest, GivesUpAWeakGroupThatCannotBeOpened) {
  options_.targets.system_wide = true;
  options_.events = *events::FindEvents(tree_.roots(), "{cpu-clock,page-faults}:W");
  // Each event is tried separately at first.
  kernel_.FailCall(Call::kOpenEvent, 4, EINVAL);
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(RunAndStop(**session).ok());
  EXPECT_EQ(Notes(**session),
            "the group of cpu-clock cannot be counted together on this machine; its events are "
            "sampled separately");
  EXPECT_FALSE(perf_data::ReadGroups(ReadBack(options_.output).features).has_value());
}

TEST_F(SessionTest, WhereOneGroupIsGivenUpItIsStillSaidWhatAnotherOneLeavesOut) {
  TargetSelf();
  options_.events = *events::FindEvents(tree_.roots(), "{cpu-clock,page-faults}:SW,{cs,faults}:S");
  // The calls to fail: each event separately, a member of the first group, and the events of the
  // second group separately again.
  for (const uint64_t call : {1, 3, 5, 7, 10, 13, 15}) {
    kernel_.FailCall(Call::kOpenEvent, call, EINVAL);
  }
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_THAT(Notes(**session), ::testing::HasSubstr("cannot be counted together on this machine"));
  EXPECT_THAT(Notes(**session), ::testing::HasSubstr("not in threads that start later"));
}

TEST_F(SessionTest, KeepsAWeakGroupThatOpens) {
  options_.targets.system_wide = true;
  options_.events = *events::FindEvents(tree_.roots(), "{cpu-clock,page-faults}:W");
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(RunAndStop(**session).ok());
  EXPECT_EQ(Notes(**session), "");
  EXPECT_TRUE(perf_data::ReadGroups(ReadBack(options_.output).features).has_value());
}

TEST_F(SessionTest, EventsOfACgroupAreOpenedForIt) {
  tree_.Write("cgroup/web/cgroup.procs", "")
      .Write("proc/self/mountinfo",
             "4 3 0:3 / " + tree_.path("cgroup") + " rw - cgroup2 none rw\n");
  options_.targets.system_wide = true;
  options_.events.front().cgroup = "web";
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_NE(kernel_.Describe().find("cgroup config 0 disabled"), std::string::npos)
      << kernel_.Describe();
  EXPECT_NE(kernel_.Describe().find("tid -1 config 9 enabled"), std::string::npos);
  options_.targets.system_wide = false;
  TargetSelf();
  EXPECT_NE(Create().status().message().find("-G needs -a"), std::string::npos);
}

TEST_F(SessionTest, ObeysWhatOthersWrite) {
  int commands[2], answers[2];
  ASSERT_EQ(pipe(commands), 0);
  ASSERT_EQ(pipe(answers), 0);
  options_.targets.system_wide = true;
  options_.starts_disabled = true;
  options_.control = target::ControlPlaces{.fd = commands[0], .answer_fd = answers[1]};
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_EQ(write(commands[1], "ping\nenable\nstop\n", 17), 17);
  const uint64_t enabled = kernel_.calls(Call::kEnable);
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().stop_reason, StopReason::kRequested);
  EXPECT_EQ(kernel_.calls(Call::kEnable), enabled + 2);
  char text[16] = {};
  EXPECT_EQ(read(answers[0], text, sizeof(text)), 12);
  EXPECT_STREQ(text, "ack\nack\nack\n");
  for (const int fd : {commands[0], commands[1], answers[0], answers[1]}) close(fd);
}

TEST_F(SessionTest, TermsOfAnEventAreWhatPerfMakesOfThem) {
  options_.targets.system_wide = true;
  options_.events = *events::FindEvents(
      tree_.roots(), "{cs/period=7/,faults/period=9/}:S,{minor-faults}:S,migrations/max-stack=5/");
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(RunAndStop(**session).ok());
  const auto recording = perf_data::Recording::Open(options_.output);
  ASSERT_TRUE(recording.ok());
  const auto& events = (*recording)->events();
  EXPECT_EQ(events[0].attr.sample_period, 7u);
  EXPECT_EQ(events[1].attr.sample_period, 9u);
  EXPECT_NE(events[1].attr.read_format & perf_event::kFormatGroup, 0u);
  EXPECT_EQ(events[2].attr.read_format & perf_event::kFormatGroup, 0u);
  EXPECT_NE(events[3].attr.sample_type & perf_event::kSampleCallchain, 0u);
  EXPECT_EQ(events[3].attr.sample_max_stack, 5u);
}

TEST_F(SessionTest, KeepsAnOldFile) {
  options_.targets.system_wide = true;
  tree_.Write("perf.data", "old");
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(RunAndStop(**session).ok());
  EXPECT_EQ(std::filesystem::file_size(options_.output + ".old"), 3u);
}

TEST_F(SessionTest, EachFileIsWholeAndEachSampleInOneOfThem) {
  options_.targets.system_wide = true;
  options_.switch_output = SwitchOutput{.bytes = 1};
  RecordSession* running = nullptr;
  CollectFiles([&](size_t files) {
    if (files == 1) {
      Publish(0, 600);
      Publish(1, 700);
    } else {
      running->RequestStop();
    }
  });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  running = session->get();
  Publish(0, 500);
  ASSERT_TRUE((*session)->Run().ok());
  const RecordSummary& summary = (*session)->summary();
  EXPECT_EQ(summary.samples, 3u);
  EXPECT_EQ(summary.files, 3u);
  EXPECT_EQ(summary.last_file_samples, 0u);
  ASSERT_EQ(files_.size(), 2u);
  EXPECT_EQ(files_[0].samples, 1u);
  EXPECT_EQ(files_[1].samples, 2u);
  EXPECT_EQ(FilesThere(),
            (std::vector<std::string>{files_[0].path, files_[1].path, summary.last_file}));
  uint64_t bytes = 0;
  for (const std::string& path : FilesThere()) {
    bytes += std::filesystem::file_size(path);
    const RecordedFile file = ReadBack(path);
    EXPECT_EQ(file.count("COMM"), 1) << path;
    EXPECT_EQ(file.count("FORK"), 1) << path;
    EXPECT_EQ(file.count("MMAP2"), 1) << path;
    EXPECT_EQ(file.features.hostname, "box") << path;
    EXPECT_EQ(absl::StrJoin(file.events, " "), "cpu-clock dummy") << path;
  }
  EXPECT_EQ(summary.bytes, bytes);
  EXPECT_EQ(ReadBack(files_[0].path).count("SAMPLE"), 1);
  EXPECT_EQ(ReadBack(files_[0].path).features.sample_time->last, 500u);
  EXPECT_EQ(ReadBack(files_[1].path).count("SAMPLE"), 2);
  EXPECT_EQ(ReadBack(files_[1].path).features.sample_time->first, 600u);
  EXPECT_FALSE(ReadBack(summary.last_file).features.sample_time.has_value());
}

TEST_F(SessionTest, KeepsTheLatestFilesAlone) {
  options_.targets.system_wide = true;
  options_.switch_output = SwitchOutput{.bytes = 1, .most_files = 2};
  RecordSession* running = nullptr;
  CollectFiles([&](size_t files) {
    if (files == 3) return running->RequestStop();
    Publish(0, 500 + files);
  });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  running = session->get();
  Publish(0, 500);
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ(FilesThere(),
            (std::vector<std::string>{files_[2].path, (*session)->summary().last_file}));
}

TEST_F(SessionTest, TheLastFileKeepsItsNameWhereItIsToBeFoundByIt) {
  options_.targets.system_wide = true;
  options_.switch_output = SwitchOutput{.bytes = 1, .last_keeps_name = true};
  RecordSession* running = nullptr;
  CollectFiles([&](size_t) { running->RequestStop(); });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  running = session->get();
  Publish(0, 500);
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().last_file, options_.output);
  EXPECT_TRUE(ReadBack(options_.output).opened);
  EXPECT_EQ(FilesThere().size(), 2u);
}

TEST_F(SessionTest, FilesInMemoryAreWholeAndTakeNoName) {
  options_.targets.system_wide = true;
  options_.in_memory = true;
  options_.output = "a window";
  options_.switch_output = SwitchOutput{.bytes = 1};
  RecordSession* running = nullptr;
  CollectFiles([&](size_t files) {
    if (files == 2) return running->RequestStop();
    Publish(0, 600);
    Publish(1, 700);
  });
  const std::vector<std::string> before = FilesThere();
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  running = session->get();
  Publish(0, 500);
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ(FilesThere(), before);
  const auto read = [](const perf_data::Writer& file) {
    return ReadBack(absl::StrCat("/proc/self/fd/", file.readable_file()));
  };
  ASSERT_EQ(files_.size(), 2u);
  EXPECT_EQ(read(*files_[0].writer).features.sample_time->last, 500u);
  EXPECT_EQ(read(*files_[1].writer).count("SAMPLE"), 2);
  EXPECT_EQ(read(*files_[1].writer).count("COMM"), 1);
  EXPECT_EQ(read(*(*session)->last_file()).count("SAMPLE"), 0);
  EXPECT_EQ(read(*(*session)->last_file()).features.hostname, "box");
}

TEST_F(SessionTest, TellsOfProcessesAndNotOfTheirThreads) {
  struct Told final : ProcessListener {
    void Began(uint32_t pid, uint32_t parent) override {
      absl::StrAppend(&text, pid, " by ", parent, "; ");
    }
    void Runs(uint32_t pid) override { absl::StrAppend(&text, pid, " runs; "); }
    void Ended(uint32_t pid) override { absl::StrAppend(&text, pid, " ended; "); }
    std::string text;
  };
  options_.targets.system_wide = true;
  const auto told = std::make_shared<Told>();
  options_.processes = told;
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(std::exchange(told->text, ""), "1 by 0; 1 runs; ");
  perf_event::RecordBuilder records(SampledAttr());
  records.At(10).By(1, 1).Fork(7, 7).By(7, 7).Fork(7, 8).By(7, 8).Comm("worker");
  records.By(7, 7).Comm("sh", /*exec=*/true).By(7, 8).Exit().By(7, 7).Exit();
  for (const auto record : records.records()) ASSERT_TRUE(kernel_.Publish(0, record.bytes()));
  ASSERT_TRUE(RunAndStop(**session).ok());
  EXPECT_EQ(told->text, "7 by 1; 7 runs; 7 ended; ");
}

TEST_F(SessionTest, SwitchesAtASignalAndIsNotEndedByOneThatComesLater) {
  options_.targets.command = {"sh", "-c", "kill -USR2 $PPID; exec sleep 1000"};
  options_.switch_output = SwitchOutput{.at_signal = true};
  RecordSession* running = nullptr;
  CollectFiles([&](size_t) { running->RequestStop(); });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  running = session->get();
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().files, 2u);
  kill(getpid(), SIGUSR2);
}

TEST_F(SessionTest, AFlightRecorderWritesTheLastRecordsWhenItIsAsked) {
  options_.targets.command = {"sh", "-c", "kill -USR2 $PPID; exec sleep 1000"};
  options_.flight = FlightOptions{.before = std::chrono::seconds(30)};
  RecordSession* running = nullptr;
  CollectFiles([&](size_t) { running->RequestStop(); });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  running = session->get();
  EXPECT_EQ(FilesThere(), std::vector<std::string>());
  Publish(0, 500);
  Publish(1, 700);
  ASSERT_TRUE((*session)->Run().ok());
  ASSERT_EQ(files_.size(), 1u);
  EXPECT_EQ(files_[0].samples, 2u);
  EXPECT_THAT(files_[0].about, testing::HasSubstr(" s before SIGUSR2"));
  EXPECT_EQ(FilesThere(), std::vector<std::string>{files_[0].path});
  EXPECT_EQ(std::filesystem::status(files_[0].path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const RecordedFile file = ReadBack(files_[0].path);
  EXPECT_EQ(file.count("SAMPLE"), 2);
  EXPECT_EQ(file.features.hostname, "box");
  EXPECT_EQ(file.features.sample_time->first, 500u);
  EXPECT_EQ(file.features.sample_time->last, 700u);
  const auto recorder = perf_data::ReadRecorder(file.features);
  ASSERT_TRUE(recorder && recorder->moment);
  EXPECT_EQ(recorder->moment->reason, "SIGUSR2");
  EXPECT_EQ(recorder->moment->dropped, 0u);
  EXPECT_EQ((*session)->summary().files, 1u);
  EXPECT_EQ((*session)->summary().last_file, files_[0].path);
  kill(getpid(), SIGUSR2);
}

TEST_F(SessionTest, EachFileOfAFlightRecorderHasWhatIsInMemory) {
  options_.targets.system_wide = true;
  options_.flight = FlightOptions{.before = std::chrono::seconds(30), .most_files = 2};
  int control[2], answers[2];
  ASSERT_EQ(pipe(control), 0);
  ASSERT_EQ(pipe(answers), 0);
  options_.control = target::ControlPlaces{.fd = control[0], .answer_fd = answers[1]};
  const auto snapshot = [&] { EXPECT_EQ(write(control[1], "snapshot\n", 9), 9); };
  RecordSession* running = nullptr;
  CollectFiles([&](size_t files) {
    if (files == 3) return running->RequestStop();
    Publish(1, 500 + files);
    snapshot();
  });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  running = session->get();
  Publish(0, 500);
  snapshot();
  ASSERT_TRUE((*session)->Run().ok());
  ASSERT_EQ(files_.size(), 3u);
  EXPECT_EQ(FilesThere(), (std::vector<std::string>{files_[1].path, files_[2].path}));
  EXPECT_EQ(ReadBack(files_[1].path).count("SAMPLE"), 2);
  const RecordedFile last = ReadBack(files_[2].path);
  EXPECT_EQ(last.count("SAMPLE"), 3);
  EXPECT_EQ(last.count("COMM"), 1);
  EXPECT_EQ(last.count("MMAP2"), 1);
  char said[16] = {};
  EXPECT_EQ(read(answers[0], said, sizeof(said)), 12);
  EXPECT_STREQ(said, "ack\nack\nack\n");
  for (const int fd : {control[0], control[1], answers[0], answers[1]}) close(fd);
}

TEST_F(SessionTest, AFlightRecorderWritesAMomentThatTheEndInterrupts) {
  options_.targets.command = {"sh", "-c", "kill -USR2 $PPID; exec sleep 1000"};
  options_.flight =
      FlightOptions{.before = std::chrono::seconds(30), .after = std::chrono::hours(1)};
  options_.duration = std::chrono::milliseconds(50);
  CollectFiles([](size_t) {});
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  Publish(0, 500);
  ASSERT_TRUE((*session)->Run().ok());
  ASSERT_EQ(files_.size(), 1u);
  EXPECT_THAT(files_[0].about, testing::HasSubstr(" s after it"));
  EXPECT_EQ(ReadBack(files_[0].path).count("SAMPLE"), 1);
}

TEST_F(SessionTest, ATriggerFiresOnceInItsCoolDown) {
  options_.targets.system_wide = true;
  options_.flight = FlightOptions{
      .before = std::chrono::seconds(30),
      .triggers = {{.kind = FlightTrigger::Kind::kEvent, .name = "x", .text = "event:x"}},
      .cooldown = std::chrono::hours(1)};
  RecordSession* running = nullptr;
  CollectFiles([&](size_t) {
    Publish(0, 600, SamplingId(kernel_));
    running->RequestStop();
  });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  running = session->get();
  Publish(0, 500, SamplingId(kernel_));
  ASSERT_TRUE((*session)->Run().ok());
  ASSERT_EQ(files_.size(), 1u);
  EXPECT_THAT(files_[0].about, testing::HasSubstr(" s before event:x (thread 1)"));
  const RecordedFile file = ReadBack(files_[0].path);
  EXPECT_EQ(file.count("SAMPLE"), 1);
  const auto recorder = perf_data::ReadRecorder(file.features);
  ASSERT_TRUE(recorder && recorder->moment);
  EXPECT_EQ(recorder->moment->time, 500u);
}

TEST_F(SessionTest, ATriggerWithoutCoolDownFiresEachTime) {
  options_.targets.system_wide = true;
  options_.flight = FlightOptions{
      .before = std::chrono::seconds(30),
      .triggers = {
          {.kind = FlightTrigger::Kind::kEvent, .name = "x", .text = "x", .cools_down = false}}};
  RecordSession* running = nullptr;
  CollectFiles([&](size_t files) {
    if (files == 2) return running->RequestStop();
    Publish(0, 600, SamplingId(kernel_));
  });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  running = session->get();
  Publish(0, 500, SamplingId(kernel_));
  ASSERT_TRUE((*session)->Run().ok());
  ASSERT_EQ(files_.size(), 2u);
  EXPECT_EQ(ReadBack(files_[1].path).count("SAMPLE"), 2);
}

TEST_F(SessionTest, AFlightRecorderWithoutAMomentWritesNothing) {
  options_.targets.system_wide = true;
  options_.flight = FlightOptions{.before = std::chrono::seconds(30)};
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  Publish(0, 500);
  ASSERT_TRUE(RunAndStop(**session).ok());
  EXPECT_EQ(FilesThere(), std::vector<std::string>());
  EXPECT_EQ((*session)->summary().files, 0u);
  EXPECT_EQ((*session)->summary().samples, 1u);
}

TEST_F(SessionTest, TheEndMayWriteAFileOfItsOwn) {
  tree_.Write("perf.data", "old");
  options_.targets.system_wide = true;
  options_.flight = FlightOptions{.writes_end = true};
  CollectFiles([](size_t) {});
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  Publish(0, 500);
  ASSERT_TRUE(RunAndStop(**session).ok());
  EXPECT_EQ(FilesThere(), (std::vector<std::string>{options_.output, options_.output + ".old"}));
  EXPECT_EQ(ReadBack(options_.output).count("SAMPLE"), 1);
}

TEST_F(SessionTest, AFlightRecorderKeepsBothFilesIfTheOldOneCannotBeRenamed) {
  tree_.Write("perf.data", "old");
  tree_.Write("perf.data.old/file", "");
  options_.targets.system_wide = true;
  options_.flight = FlightOptions{.writes_end = true};
  std::vector<std::string> failures;
  options_.on_failure = [&](const std::string& message) { failures.push_back(message); };
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  Publish(0, 500);
  ASSERT_TRUE(RunAndStop(**session).ok());
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_THAT(failures[0], testing::StartsWith("the file for the end stays " + options_.output +
                                               ".part: cannot rename " + options_.output + " to "));
  EXPECT_EQ(std::filesystem::file_size(options_.output), 3u);
  EXPECT_EQ(ReadBack(options_.output + ".part").count("SAMPLE"), 1);
}

TEST_F(SessionTest, AFileThatCannotBeWrittenDoesNotEndAFlightRecorder) {
  options_.targets.system_wide = true;
  options_.flight = FlightOptions{.before = std::chrono::seconds(30)};
  int control[2];
  ASSERT_EQ(pipe(control), 0);
  options_.control = target::ControlPlaces{.fd = control[0]};
  EXPECT_EQ(write(control[1], "snapshot\n", 9), 9);
  rlimit former;
  getrlimit(RLIMIT_FSIZE, &former);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit full{.rlim_cur = 0, .rlim_max = former.rlim_max};
  std::vector<std::string> failures;
  options_.on_failure = [&](const std::string& message) {
    failures.push_back(message);
    setrlimit(RLIMIT_FSIZE, &former);
    EXPECT_EQ(write(control[1], "snapshot\n", 9), 9);
  };
  RecordSession* running = nullptr;
  CollectFiles([&](size_t) { running->RequestStop(); });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  running = session->get();
  Publish(0, 500);
  setrlimit(RLIMIT_FSIZE, &full);
  const absl::Status status = (*session)->Run();
  setrlimit(RLIMIT_FSIZE, &former);
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_THAT(failures[0], testing::StartsWith("no file for the command snapshot: cannot write "));
  ASSERT_EQ(files_.size(), 1u);
  EXPECT_EQ(FilesThere(), std::vector<std::string>{files_[0].path});
  EXPECT_EQ(ReadBack(files_[0].path).count("SAMPLE"), 1);
  for (const int fd : control) close(fd);
}

TEST_F(SessionTest, AFlightRecorderSaysAtOnceThatItsDirectoryCannotBeWritten) {
  options_.targets.system_wide = true;
  options_.flight = FlightOptions{.before = std::chrono::seconds(30)};
  options_.output = tree_.path("none/perf.data");
  EXPECT_THAT(std::string(Create().status().message()),
              testing::HasSubstr("--flight: cannot write files in "));
  options_.output = "-";
  EXPECT_THAT(std::string(Create().status().message()),
              testing::StartsWith("--flight cannot be used with -o -"));
}

TEST_F(SessionTest, SwitchesWhenTimeIsOver) {
  options_.targets.system_wide = true;
  options_.switch_output = SwitchOutput{.time = std::chrono::milliseconds(1)};
  RecordSession* running = nullptr;
  CollectFiles([&](size_t) { running->RequestStop(); });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  running = session->get();
  Publish(0, 500);
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().files, 2u);
  EXPECT_EQ(files_[0].samples, 1u);
}

TEST_F(SessionTest, SwitchesAtASampleOfAnEvent) {
  options_.targets.system_wide = true;
  options_.events.push_back(Event("page-faults"));
  options_.switch_output = SwitchOutput{.events = {0}};
  RecordSession* running = nullptr;
  CollectFiles([&](size_t) { running->RequestStop(); });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  running = session->get();
  Publish(0, 500);
  Publish(1, 600, SamplingId(kernel_));
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().files, 2u);
  EXPECT_EQ(files_[0].samples, 2u);
}

TEST_F(SessionTest, SamplesOfOtherEventsDoNotSwitch) {
  options_.targets.system_wide = true;
  options_.events.push_back(Event("page-faults"));
  options_.switch_output = SwitchOutput{.time = std::chrono::milliseconds(1), .events = {1}};
  RecordSession* running = nullptr;
  CollectFiles([&](size_t) { running->RequestStop(); });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  running = session->get();
  Publish(0, 500, SamplingId(kernel_));
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->summary().files, 2u);
  EXPECT_EQ(files_[0].samples, 1u);
}

TEST_F(SessionTest, TheFileGoesOnWhereTheNextOneCannotBeBegun) {
  options_.targets.system_wide = true;
  options_.switch_output = SwitchOutput{.bytes = 1};
  rlimit former;
  getrlimit(RLIMIT_NOFILE, &former);
  CollectFiles([&](size_t) {
    const rlimit none{.rlim_cur = 0, .rlim_max = former.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    Publish(0, 600);
  });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  Publish(0, 500);
  const absl::Status status = (*session)->Run();
  setrlimit(RLIMIT_NOFILE, &former);
  EXPECT_EQ(ErrnoOf(status), EMFILE) << status;
  EXPECT_EQ((*session)->summary().stop_reason, StopReason::kError);
  ASSERT_EQ(files_.size(), 1u);
  // Renaming needs a descriptor, too.
  const std::string last = (*session)->summary().last_file;
  EXPECT_EQ(last, options_.output);
  EXPECT_EQ(FilesThere(), (std::vector<std::string>{last, files_[0].path}));
  EXPECT_EQ(ReadBack(last).count("SAMPLE"), 1);
  EXPECT_EQ(ReadBack(last).features.hostname, "box");
}

TEST_F(SessionTest, CompleteFilesStayWhenTheDiskIsFull) {
  options_.targets.system_wide = true;
  options_.switch_output = SwitchOutput{.bytes = 1};
  rlimit former;
  getrlimit(RLIMIT_FSIZE, &former);
  signal(SIGXFSZ, SIG_IGN);
  CollectFiles([&](size_t) {
    const rlimit full{.rlim_cur = 0, .rlim_max = former.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
    Publish(0, 600);
  });
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  Publish(0, 500);
  const absl::Status status = (*session)->Run();
  setrlimit(RLIMIT_FSIZE, &former);
  EXPECT_EQ(ErrnoOf(status), EFBIG) << status;
  ASSERT_EQ(files_.size(), 1u);
  EXPECT_EQ(ReadBack(files_[0].path).count("SAMPLE"), 1);
  EXPECT_EQ(ReadBack((*session)->summary().last_file).count("COMM"), 1);
}

TEST_F(SessionTest, ALoneFileGetsItsTimeBehindItsName) {
  options_.targets.system_wide = true;
  options_.timestamp_filename = true;
  auto session = Create();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(RunAndStop(**session).ok());
  const std::string path = (*session)->summary().last_file;
  EXPECT_EQ(FilesThere(), std::vector<std::string>{path});
  EXPECT_EQ(path.size(), options_.output.size() + sizeof(".YYYYMMDDhhmmssNN") - 1) << path;
  EXPECT_TRUE(ReadBack(path).opened);
}

TEST_F(SessionTest, NamesAreGivenToRegularFilesAlone) {
  options_.targets.system_wide = true;
  options_.switch_output = SwitchOutput{.bytes = 1};
  options_.output = "-";
  EXPECT_EQ(Create().status().message(),
            "--switch-output cannot be used with -o -, because a stream has no name; give -o FILE");
  options_.output = "/dev/null";
  EXPECT_EQ(Create().status().message(),
            "--switch-output: /dev/null is not a regular file; give another one with -o");
  options_.switch_output.reset();
  options_.timestamp_filename = true;
  EXPECT_FALSE(Create().ok());
}

}  // namespace
}  // namespace profiler::record
