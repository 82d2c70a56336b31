// Runs the profiler on live programs, if the kernel permits it.

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class LiveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = "/tmp/profiler-live-XXXXXX";  // in /tmp, which other users may enter
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    chmod(folder_.c_str(), 0755);
    Finished probe = Profiler({"record", "-o", folder_ + "/probe.data", "--", "true"});
    if (probe.exit_code != 0) {
      GTEST_SKIP() << "this kernel lets nothing be recorded: " << probe.err;
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Finished Profiler(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), profiler_);
    return tests::Run(std::move(arguments), folder_);
  }

  // Records `workload ARGUMENTS…` into perf.data and returns the recorder's result.
  Finished RecordWorkload(std::vector<std::string> arguments,
                          std::vector<std::string> options = {}) {
    std::vector<std::string> command = {"record"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", workload_});
    command.insert(command.end(), arguments.begin(), arguments.end());
    return Profiler(command);
  }

  std::string Report(std::vector<std::string> options = {}) {
    options.insert(options.begin(), "report");
    Finished report = Profiler(options);
    EXPECT_EQ(report.exit_code, 0) << report.err;
    return report.out;
  }

  // Returns the number of SAMPLE events in perf.data.
  long Samples() {
    const std::string stats = Report({"--stats"});
    const size_t at = stats.find("SAMPLE events:");
    return at == std::string::npos ? 0
                                   : std::atol(stats.c_str() + at + sizeof("SAMPLE events:") - 1);
  }

  // Waits until perf.data has at least `size` bytes. A loaded machine may take long to write them.
  void WaitForBytes(uintmax_t size) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    const std::string path = folder_ + "/perf.data";
    while (!std::filesystem::exists(path) || std::filesystem::file_size(path) < size) {
      ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "perf.data does not grow";
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  // Waits until the file exists and contains exactly `text`.
  static void WaitForText(const std::string& path, const std::string& text) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (true) {
      std::ifstream file(path);
      const std::string found(std::istreambuf_iterator<char>(file), {});
      if (file.is_open() && found == text) return;
      ASSERT_LT(std::chrono::steady_clock::now(), give_up) << path << " has " << found;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  // Returns the percentage of `symbol` in the flat report: the sum over all rows with this symbol.
  double Share(const std::string& symbol) {
    std::istringstream lines(Report({"--no-children", "-g", "none", "-s", "symbol"}));
    double sum = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("#") && line.ends_with("] " + symbol)) sum += std::atof(line.c_str());
    }
    return sum;
  }

  const std::string profiler_ = Runfile("profiler");
  const std::string workload_ = Runfile("tests/live/workload");
  std::string folder_;
};

TEST_F(LiveTest, SamplesABusyProgramAtTheRateAskedFor) {
  constexpr double kSeconds = 2;
  Finished recorded = RecordWorkload({"busy", "2"}, {"-F", "999", "-g"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const double cpu_seconds = std::atof(recorded.out.c_str());
  EXPECT_GE(Samples(), 0.97 * 999 * cpu_seconds);
  // The upper limit uses elapsed time instead of CPU time, because the sampling clock runs on while
  // a hypervisor has the CPU. A tenth of a second is for the start and end of a program with a
  // sanitizer.
  EXPECT_LE(Samples(), 1.03 * 999 * (kSeconds + 0.1));
  EXPECT_THAT(Report(),
              AllOf(HasSubstr("Outer"), HasSubstr("Inner"), HasSubstr("# Total Lost Samples: 0")));
}

TEST_F(LiveTest, CallGraphShowsTheCallersOfTheHotFunction) {
  ASSERT_EQ(RecordWorkload({"busy", "0.5"}, {"-g"}).exit_code, 0);
  const std::string folded = Profiler({"folded"}).out;
  EXPECT_THAT(folded, HasSubstr("main;Outer;Inner"));
}

// Returns the sum of the weights of folded lines that contain `part`.
uint64_t WeightOfLines(const std::string& folded, const std::string& part) {
  uint64_t sum = 0;
  std::istringstream lines(folded);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) != std::string::npos) {
      sum += std::strtoull(line.c_str() + line.rfind(' '), nullptr, 10);
    }
  }
  return sum;
}

TEST_F(LiveTest, WallClockIsTheTimeThatThreadsRunAndTheTimeThatTheyWait) {
  Finished recorded = Profiler({"record", "--wall-clock", "--", "sh", "-c",
                                workload_ + " busy 0.5 && " + workload_ + " idle 0.5 && exit 0"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const Finished folded = Profiler({"folded"});
  EXPECT_EQ(folded.exit_code, 0) << folded.err;
  // The shell waits for a second, and one of its children sleeps for half a second.
  EXPECT_GE(WeightOfLines(folded.out, ";[blocked] "), 1'450'000'000u) << folded.out;
  EXPECT_GT(WeightOfLines(folded.out, ";Inner "), 0u) << folded.out;
  EXPECT_EQ(WeightOfLines(Profiler({"folded", "--event", "oncpu-time"}).out, "[blocked]"), 0u);
  EXPECT_THAT(Report({"-g", "none"}), AllOf(HasSubstr("of event 'wall-clock'"), HasSubstr("Inner"),
                                            Not(HasSubstr("offcpu-time"))));
  EXPECT_THAT(Report({"-g", "none", "--no-group"}),
              AllOf(HasSubstr("'oncpu-time'"), HasSubstr("'offcpu-time'")));
}

TEST_F(LiveTest, LatencyNeedsToKnowWhichThreadsRan) {
  ASSERT_EQ(RecordWorkload({"busy", "0.3"}).exit_code, 0);
  const Finished refused = Profiler({"report", "--latency"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("record with --latency"));
  ASSERT_EQ(RecordWorkload({"busy", "0.3"}, {"--latency"}).exit_code, 0);
  EXPECT_THAT(Report({"--latency"}), AllOf(HasSubstr("Latency Overhead"), HasSubstr("Compute")));
}

TEST_F(LiveTest, AnnotatesTheHotFunction) {
  ASSERT_EQ(RecordWorkload({"busy", "0.5"}).exit_code, 0);
  const Finished hottest = Profiler({"annotate"});
  EXPECT_EQ(hottest.exit_code, 0) << hottest.err;
  EXPECT_THAT(hottest.out, AllOf(HasSubstr(" Percent |      Source code & Disassembly of "),
                                 HasSubstr("percent: local period"), HasSubstr("ret\n")));
  const Finished unknown = Profiler({"annotate", "no_such_function"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_EQ(unknown.out, "");
  EXPECT_THAT(unknown.err, HasSubstr("no function 'no_such_function' has samples"));
}

TEST_F(LiveTest, AFunctionWithoutASymbolIsOneRow) {
  const std::string stripped = folder_ + "/stripped";
  // With workload's build-id, a cache of this machine's user could give it workload's names.
  const Finished made =
      tests::Run({"strip", "-s", "-R", ".note.gnu.build-id", "-o", stripped, workload_}, folder_);
  if (made.exit_code != 0) {
    GTEST_SKIP() << "there is no strip(1)";
  }
  ASSERT_EQ(Profiler({"record", "-F", "999", "--", stripped, "busy", "0.5"}).exit_code, 0);
  EXPECT_THAT(Report(), AllOf(HasSubstr("[.] stripped+0x"), HasSubstr("# Names: "),
                              HasSubstr("% by function start only")));
  EXPECT_THAT(Report({"--no-fde"}), Not(HasSubstr("stripped+0x")));
  EXPECT_THAT(Report({"--unresolved"}), AllOf(HasSubstr("/stripped: no symbol covers them\n"),
                                              HasSubstr("build it unstripped")));
}

TEST_F(LiveTest, ExitsAsTheCommandDid) {
  EXPECT_EQ(RecordWorkload({"exit", "7"}).exit_code, 7);
  EXPECT_EQ(RecordWorkload({"kill", "15"}).signal, SIGTERM);
  Finished missing = Profiler({"record", "--", "no-such-program"});
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_THAT(missing.err, HasSubstr("no-such-program"));
}

TEST_F(LiveTest, WithoutATargetSaysWhatIsMissing) {
  Finished finished = Profiler({"record"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("-p"), HasSubstr("-a")));
}

TEST_F(LiveTest, RecordsARunningProcessUntilItIsInterrupted) {
  Running target({workload_, "busy", "30"}, folder_);
  Running recorder({profiler_, "record", "-g", "-p", std::to_string(target.pid())}, folder_);
  WaitForBytes(60'000);
  recorder.Signal(SIGINT);
  Finished finished = recorder.Wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_GT(Share("Inner") + Share("(anonymous namespace)::Compute(std::chrono::duration<long, "
                                   "std::ratio<1l, 1000000l> >)"),
            0);
  EXPECT_GT(Samples(), 300);
}

TEST_F(LiveTest, ATreeHasTheChildrenThatAProcessHasAlready) {
  Running parent({"/bin/sh", "-c", "'" + workload_ + "' busy 10 & : > started; wait"}, folder_);
  WaitForText(folder_ + "/started", "");
  const std::string pid = std::to_string(parent.pid());
  Finished alone = Profiler({"record", "-p", pid, "--duration", "0.2"});
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(alone.err,
              HasSubstr("process " + pid + " has 1 child process that is not recorded ("));
  EXPECT_EQ(Samples(), 0);
  std::filesystem::remove(folder_ + "/perf.data");
  Running tree({profiler_, "record", "-p", pid, "--tree"}, folder_);
  WaitForBytes(30'000);
  tree.Signal(SIGINT);
  const Finished all = tree.Wait();
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.err, Not(HasSubstr("not recorded")));
  EXPECT_GT(Samples(), 100);
  EXPECT_THAT(Report(), HasSubstr("Compute"));
}

TEST_F(LiveTest, AProcessIsFoundByItsName) {
  Running target({workload_, "busy", "3"}, folder_);
  const std::string pid = std::to_string(target.pid());
  WaitForText("/proc/" + pid + "/comm", "workload\n");
  Finished found = Profiler({"record", "-p", "workloa?", "--duration", "0.3"});
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_THAT(found.err, AllOf(HasSubstr("-p workloa?: "), HasSubstr(pid)));
  EXPECT_GT(Samples(), 50);
  Finished none = Profiler({"record", "-p", "no-such-program"});
  EXPECT_NE(none.exit_code, 0);
  EXPECT_THAT(none.err, HasSubstr("no running process is named 'no-such-program'"));
}

TEST_F(LiveTest, StopsWhenTheTargetEnds) {
  Running target({workload_, "busy", "1"}, folder_);
  Finished finished = Profiler({"record", "-p", std::to_string(target.pid())});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
}

TEST_F(LiveTest, AKilledRecorderLeavesAReadableFile) {
  Running target({workload_, "busy", "30"}, folder_);
  Running recorder({profiler_, "record", "-g", "-p", std::to_string(target.pid())}, folder_);
  WaitForBytes(120'000);
  recorder.Signal(SIGKILL);
  EXPECT_EQ(recorder.Wait().signal, SIGKILL);
  EXPECT_GT(Samples(), 600);
  EXPECT_THAT(Report(), HasSubstr("Inner"));
}

TEST_F(LiveTest, ACompressedRecordingReadsAsOthersDoAndWhenItsRecorderIsKilled) {
  Running target({workload_, "busy", "120"}, folder_);
  for (const int signal : {SIGINT, SIGKILL}) {
    SCOPED_TRACE(signal);
    std::filesystem::remove(folder_ + "/perf.data");
    Running recorder({profiler_, "record", "-z", "-g", "-p", std::to_string(target.pid())},
                     folder_);
    WaitForBytes(10'000);
    recorder.Signal(signal);
    const Finished finished = recorder.Wait();
    EXPECT_EQ(finished.signal, signal == SIGKILL ? SIGKILL : 0) << finished.err;
    EXPECT_GT(Samples(), 50);
    if (signal == SIGKILL) continue;  // a recorder writes the header's lines at the end
    EXPECT_THAT(Report({"--header-only"}), HasSubstr("# compressed : Zstd, level = 1"));
  }
}

TEST_F(LiveTest, RecordsIntoAPipe) {
  const std::string record = profiler_ + " record -g -o - -- " + workload_ + " busy 0.5";
  Finished piped = tests::Run(
      {"sh", "-c", record + " | " + profiler_ + " report -i - -g none --no-children"}, folder_);
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_THAT(piped.out, HasSubstr("workload"));
  Finished closed = tests::Run({"sh", "-c", record + " | true"}, folder_);
  EXPECT_THAT(closed.err, AllOf(HasSubstr("standard output"), HasSubstr("has closed the pipe")));
}

TEST_F(LiveTest, GoesOnInTheNextFileAtASignalAndNamesEach) {
  const std::string script = workload_ + " busy 0.3; kill -USR2 $PPID; " + workload_ + " busy 0.3";
  const Finished recorded =
      Profiler({"record", "-g", "--switch-output", "-o", "part.data", "sh", "-c", script});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  std::vector<std::string> parts;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("part.data")) parts.push_back(name);
  }
  EXPECT_EQ(parts.size(), 2u) << recorded.err;
  for (const std::string& part : parts) {
    // Each file must contain the names of threads, mappings and functions.
    const std::string report = Report({"-i", part, "-g", "none"});
    EXPECT_THAT(report, AllOf(HasSubstr("workload"), HasSubstr("Outer"), Not(HasSubstr(":-1"))));
    // Sanitizers have code of their own without names.
    EXPECT_THAT(Report({"-i", part, "-g", "none", "--dsos", "workload"}),
                Not(HasSubstr("[unknown]")));
    EXPECT_THAT(Report({"-i", part, "--header-only"}), HasSubstr("# names : "));
  }
}

TEST_F(LiveTest, FollowsAThousandThreads) {
  Finished recorded = RecordWorkload({"threads", "1000", "1"}, {"-F", "2000", "-g"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(Profiler({"folded"}).out, HasSubstr("ThreadWork"));
}

TEST_F(LiveTest, AttachesToAThousandThreads) {
  Running target({workload_, "threads", "1000", "30"}, folder_);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  Finished recorded =
      Profiler({"record", "-g", "--duration", "1", "-p", std::to_string(target.pid())});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(Profiler({"folded"}).out, HasSubstr("ThreadWork"));
}

TEST_F(LiveTest, FollowsTwoHundredForksASecond) {
  Finished recorded = RecordWorkload({"forks", "200", "1"}, {"-F", "5000", "-g"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(Profiler({"folded"}).out, HasSubstr("ChildWork"));
  EXPECT_THAT(Report({"--stats"}), HasSubstr("FORK events:"));
}

TEST_F(LiveTest, NamesALibraryThatComesAndGoes) {
  Finished recorded = RecordWorkload({"dlopen", Runfile("tests/live/libplugin.so"), "0.5"}, {"-g"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  // Without a sanitizer, the share is more than half. With a sanitizer, loading the library takes
  // most of the time.
  EXPECT_GT(Share("PluginWork"), 20);
}

TEST_F(LiveTest, FollowsExec) {
  Finished recorded = RecordWorkload({"exec", "0.5"}, {"-g"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(Profiler({"folded"}).out, AllOf(HasSubstr("BeforeExec"), HasSubstr("Outer;Inner")));
}

// Simulates a build loop whose linker writes into the existing file.
TEST_F(LiveTest, OutlivesProgramsThatAreOverwrittenInPlace) {
  const std::string loop = "for round in $(seq 60); do cp " + workload_ +
                           " program; ./program busy 0.01; cp $(command -v true) program; "
                           "./program; done >/dev/null 2>&1; true";
  const Finished recorded =
      Profiler({"record", "-F", "9999", "--call-graph", "dwarf", "--", "sh", "-c", loop});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_GT(Samples(), 1000);
  EXPECT_THAT(Report({"--chains"}), HasSubstr("are whole"));
}

TEST_F(LiveTest, KeepsThePreviousRecording) {
  ASSERT_EQ(RecordWorkload({"exit", "0"}).exit_code, 0);
  ASSERT_EQ(RecordWorkload({"exit", "0"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/perf.data.old"));
}

TEST_F(LiveTest, BeyondTheFileSizeLimitARecordingKeepsWhatWasWritten) {
  if (!kRunsWithLimitedFiles) GTEST_SKIP() << "ThreadSanitizer does not start under ulimit -f";
  const Finished recorded =
      tests::Run({"sh", "-c", "ulimit -f 64 && exec \"$0\" record -F 9999 -g -- \"$1\" busy 2 2>&1",
                  profiler_, workload_},
                 folder_);
  EXPECT_EQ(recorded.signal, 0);
  EXPECT_EQ(recorded.exit_code, 1);
  EXPECT_THAT(recorded.out, HasSubstr("perf.data: File too large; the file size limit is reached "
                                      "(ulimit -f)\n"));
  EXPECT_LE(std::filesystem::file_size(folder_ + "/perf.data"), 64u * 512);
  EXPECT_GT(Samples(), 50);
}

TEST_F(LiveTest, TheCommandHasTheSignalsThatItWouldHaveWithoutUs) {
  const std::vector<std::string> show = {"grep", "-E", "Sig(Blk|Ign|Cgt)", "/proc/self/status"};
  for (const bool nohup : {false, true}) {
    std::vector<std::string> plain = show;
    std::vector<std::string> recorded = {profiler_, "record", "-q", "-o", "signals.data", "--"};
    recorded.insert(recorded.end(), show.begin(), show.end());
    if (nohup) plain.insert(plain.begin(), "nohup");
    if (nohup) recorded.insert(recorded.begin(), "nohup");
    const std::string expected = tests::Run(plain, folder_).out;
    EXPECT_THAT(expected, HasSubstr("SigIgn"));
    EXPECT_EQ(tests::Run(recorded, folder_).out, expected);
  }
}

TEST_F(LiveTest, SaysWhatIsWrongWithHowARecordingIsToBeSwitched) {
  const auto refusal = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "record");
    options.insert(options.end(), {"--", "true"});
    const Finished finished = Profiler(options);
    EXPECT_NE(finished.exit_code, 0) << finished.err;
    return finished.err;
  };
  for (const char* wrong : {"5", "0s", "often", "1.5s", "K"}) {
    EXPECT_EQ(refusal({"--switch-output=" + std::string(wrong)}),
              "profiler: --switch-output: '" + std::string(wrong) +
                  "' is unknown; give signal, a size (512K, 100M, 1G) or a time (500ms, 10s, 5m, "
                  "1h, 1d)\n");
  }
  EXPECT_EQ(refusal({"--switch-max-files", "3"}),
            "profiler: --switch-max-files needs --switch-output\n");
  EXPECT_EQ(refusal({"--switch-output", "-o", "-"}),
            "profiler: --switch-output cannot be used with -o -, because a stream has no name; "
            "give -o FILE\n");
}

TEST_F(LiveTest, RepeatsACommandAndShowsWhatItsRunsHaveInCommon) {
  const Finished recorded = RecordWorkload({"busy", "0.3"}, {"--repeat", "3"});
  EXPECT_EQ(recorded.exit_code, 0);
  for (const char* number : {"1", "2", "3"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_ + "/perf.data." + number));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/perf.data"));
  EXPECT_THAT(recorded.err, HasSubstr("\n# 3 runs: perf.data.1 perf.data.2 perf.data.3\n"));
  EXPECT_THAT(recorded.err, HasSubstr("::Compute("));
  const Finished compared =
      Profiler({"diff", "perf.data.1", "perf.data.2", "--", "perf.data.2", "perf.data.3"});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
}

TEST_F(LiveTest, ACommandThatFailsIsRepeatedAndTheLastOneEndsUs) {
  const std::string command = "test -e first || { touch first; exit 3; }; exit 4";
  const Finished recorded =
      Profiler({"record", "--repeat", "2", "-o", "x.data", "--", "sh", "-c", command});
  EXPECT_EQ(recorded.exit_code, 4);
  EXPECT_THAT(recorded.err, HasSubstr("warning: x.data.1: the command ended with exit code 3\n"));
  EXPECT_THAT(recorded.err, HasSubstr("warning: x.data.2: the command ended with exit code 4\n"));
}

TEST_F(LiveTest, RepeatedRunsKeepTheRecordingsOfBeforeAndHaveTheSamePriority) {
  for (int time = 0; time < 2; ++time) {
    const Finished recorded = RecordWorkload({"busy", "0.05"}, {"-q", "--repeat", "2"});
    EXPECT_EQ(recorded.exit_code, 0);
    EXPECT_EQ(recorded.err, "");
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/perf.data.2.old"));
  const Finished priorities = Profiler({"record", "-q", "--repeat", "2", "--", "nice"});
  const size_t half = priorities.out.size() / 2;
  EXPECT_EQ(priorities.out.substr(0, half), priorities.out.substr(half));
}

TEST_F(LiveTest, AnInterruptEndsTheRepeatingAndTheTableIsOfWholeRuns) {
  // The first run creates the file `first` and ends. The second run finds it, and interrupts the
  // recorder as soon as recording has begun.
  const std::string command = workload_ +
                              " busy 0.1; test -e first || { touch first; exit 0; }; kill -INT "
                              "$PPID; while :; do :; done";
  const Finished recorded = Profiler({"record", "--repeat", "5", "--", "sh", "-c", command});
  EXPECT_EQ(recorded.signal, SIGINT);
  EXPECT_THAT(recorded.err, HasSubstr("# 1 run: perf.data.1\n"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/perf.data.2"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/perf.data.3"));
}

TEST_F(LiveTest, OnlyACommandIsRepeatedAndEachRunHasAFile) {
  const auto refusal = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "record");
    const Finished finished = Profiler(options);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    return finished.err;
  };
  EXPECT_EQ(refusal({"--repeat", "2", "-p", "1"}),
            "profiler: --repeat: only a command can be repeated; give one after --\n");
  EXPECT_EQ(refusal({"--repeat", "2", "-o", "-", "--", "true"}),
            "profiler: --repeat: cannot be used with -o -, because each run writes its own file; "
            "give -o FILE\n");
  EXPECT_EQ(refusal({"--repeat", "2", "--switch-output", "--", "true"}),
            "profiler: --repeat: cannot be used with --switch-output\n");
  EXPECT_THAT(refusal({"--repeat", "0", "--", "true"}),
              HasSubstr("--repeat: '0' is not a number from 1 to 10000"));
  EXPECT_EQ(
      refusal({"--summary", "-o", "-", "--", "true"}),
      "profiler: --summary cannot be used with -o -, because a stream cannot be read again\n");
}

TEST_F(LiveTest, EndsWithTheSummaryWhereThatIsAskedFor) {
  const Finished with = RecordWorkload({"busy", "0.3"}, {"--summary"});
  const Finished summary = Profiler({"summary"});
  EXPECT_THAT(with.err, testing::EndsWith("\n" + summary.out));
  EXPECT_THAT(RecordWorkload({"busy", "0.1"}).err, Not(HasSubstr("Where it goes")));
}

TEST_F(LiveTest, SaysOneClearLineForWhatCannotBe) {
  struct Case {
    std::vector<std::string> arguments;
    std::string says;
  };
  const std::vector<Case> cases = {
      {{"record", "-p", "2147483646"}, "2147483646"},
      {{"record", "-e", "no-such-event", "--", "true"}, "no-such-event"},
      {{"record", "-F", "0", "--", "true"}, "-F"},
      {{"record", "-C", "9999", "-a", "--duration", "1"}, "9999"},
      {{"report", "-i", "/no/such/file"}, "/no/such/file"},
      {{"report", "-i", "/etc/passwd"}, "/etc/passwd"},
      {{"record", "-o", "/no/such/folder/perf.data", "--", "true"}, "/no/such/folder"},
      {{"record", "-o", "/dev/full", "--", "true"}, "/dev/full"},
      {{"record", "-o", "/no/such/\033c", "--", "true"}, "/no/such/\\033c"},
  };
  for (const Case& c : cases) {
    Finished finished = Profiler(c.arguments);
    EXPECT_GT(finished.exit_code, 0) << testing::PrintToString(c.arguments);
    EXPECT_THAT(finished.err, HasSubstr(c.says)) << testing::PrintToString(c.arguments);
    EXPECT_THAT(finished.err, Not(HasSubstr("\n\n")));
  }
}

TEST_F(LiveTest, OnlyWhoUnwindsIsMoreImportantThanOthersAndItsCommandNever) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to raise a priority";
  if (getpriority(PRIO_PROCESS, 0) != 0) GTEST_SKIP() << "the test has a priority of its own";
  const auto niceness = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"record", "-q", "-o", folder_ + "/perf.data"});
    options.insert(options.end(), {"--", "sh", "-c", "echo $(nice; ps -o ni= -p $PPID)"});
    const Finished recorded = Profiler(options);
    EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
    return recorded.out;
  };
  const auto header = [&] {
    return Profiler({"report", "--header-only", "-i", folder_ + "/perf.data"}).out;
  };
  EXPECT_EQ(niceness({}), "0 0\n");
  EXPECT_THAT(header(), Not(HasSubstr("priority of the recorder")));
  EXPECT_EQ(niceness({"--call-graph", "dwarf"}), "0 -20\n");
  EXPECT_THAT(header(), HasSubstr("# priority of the recorder : nice -20\n"));
  // -r takes the priorities that perf record -r takes.
  EXPECT_EQ(niceness({"-r", "10"}), "0 -\n");
  EXPECT_THAT(header(), HasSubstr("# priority of the recorder : SCHED_FIFO 10\n"));
}

TEST_F(LiveTest, AnOrdinaryUserGetsUserCodeAndIsToldWhatWouldLiftThat) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become nobody";
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  int paranoid = 0;
  file >> paranoid;
  if (paranoid != 2) GTEST_SKIP() << "kernel.perf_event_paranoid is " << paranoid << ", not 2";
  chmod(folder_.c_str(), 0777);
  // The build's sandbox may hide files from other users, so the programs are copied.
  std::filesystem::copy(profiler_, folder_ + "/profiler");
  std::filesystem::copy(workload_, folder_ + "/workload");
  chmod((folder_ + "/profiler").c_str(), 0755);
  chmod((folder_ + "/workload").c_str(), 0755);
  Finished recorded = tests::Run(
      {"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", folder_ + "/profiler",
       "record", "-g", "--", folder_ + "/workload", "busy", "0.5"},
      folder_);
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(recorded.err, HasSubstr("sysctl kernel.perf_event_paranoid="));
  EXPECT_GE(Samples(), 0.9 * 999 * std::atof(recorded.out.c_str()) - 5);
}

}  // namespace
}  // namespace profiler::tests
