// Records programs whose call chains are known by construction, and checks the profiler's output:
//
//   * every shown call between the program's own functions exists in the program;
//   * of the chains from alpha or beta to a leaf function, 75 % contain alpha and 25 % contain beta;
//   * chains end at the thread's start, or are marked as cut;
//   * the stated share of whole chains is right.
//
// A test run takes a selection of the cases; PROFILER_CALLERS=all in the environment takes all
// combinations (README.md). Programs that the machine cannot build are skipped with the reason.
// Each case prints its figures on one line.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/callers/callers_cases.h"
#include "tests/callers/shown_chains.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

namespace fs = std::filesystem;

// CPU time of a program in seconds. The first cycle of the slowest changes takes 1.5 s, which is
// longer. So a program with these changes runs exactly one cycle.
constexpr const char* kSeconds = "1.4";
constexpr double kAlphaShare = 75;
constexpr double kMostPoints = 3, kMostPointsOfWhole = 2;
// Smallest percentage of whole chains on large stacks, in the second half of the recording. Chains
// are cut until the kernel has checked the program that reads them, which takes longer on a busy
// machine.
constexpr double kFewestWhole = 98;
constexpr const char* kSecondHalf = "50%-100%";
// Smallest number of samples in alpha and beta for which their shares are checked. With fewer
// samples, shares are too inaccurate.
constexpr double kFewestSamples = 100;
// Largest percentage of lost samples. With more, the case would test the losses, not the chains.
constexpr double kMostLost = 2;
constexpr int kTries = 3;
// Largest percentage of chains with unnamed code. With more, shares are not checked, because the
// unnamed code may be alpha or beta.
constexpr double kMostUnnamed = 2;
// Largest length of an example chain in a message.
constexpr size_t kMostText = 600;

double Percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// Returns the share of whole chains, in percent, that `record` or `report --chains` states first:
// "99.71 % of 51952 call chains are whole", "99.71 % of call chains by weight are whole",
// "# Call chains: 99.71% of 51952 are whole".
std::optional<double> StatedWhole(const std::string& text) {
  static const std::regex kStatement(R"(([\d.]+) ?%[^%\n]*\bwhole\b)");
  std::smatch match;
  if (!std::regex_search(text, match, kStatement)) return std::nullopt;
  return std::stod(match[1]);
}

// Returns the stated share of whole chains, in percent, from the document of `report --json`.
std::optional<double> StatedWholeInJson(const std::string& document) {
  static const std::regex kChains(R"re("chains": ?\{[^}]*\})re");
  std::smatch chains;
  if (!std::regex_search(document, chains, kChains)) return std::nullopt;
  const std::string text = chains.str();
  const auto number = [&text](const char* name) -> std::optional<double> {
    std::smatch match;
    const std::regex member(absl::StrCat("\"", name, R"(": ?([\d.e+-]+))"));
    if (!std::regex_search(text, match, member)) return std::nullopt;
    return std::stod(match[1]);
  };
  const std::optional<double> whole = number("whole"), unwound = number("unwound");
  if (!whole || !unwound || *unwound == 0) return std::nullopt;
  return Percent(*whole, *unwound);
}

struct Losses {
  double percent = 0;
  bool is_known = false;
};

Losses LossesIn(const std::string& recorded) {
  static const std::regex kLine(R"(record: (\d+) samples, (\d+) lost)");
  std::smatch match;
  if (!std::regex_search(recorded, match, kLine)) return {};
  const double samples = std::stod(match[1]), lost = std::stod(match[2]);
  return {Percent(lost, samples + lost), true};
}

// A guard that raises the stack limit. Programs that start during its lifetime get the limit.
class StackLimit {
 public:
  explicit StackLimit(rlim_t bytes) {
    getrlimit(RLIMIT_STACK, &before_);
    rlimit wanted = before_;
    if (wanted.rlim_cur != RLIM_INFINITY) wanted.rlim_cur = std::max(wanted.rlim_cur, bytes);
    is_set_ = setrlimit(RLIMIT_STACK, &wanted) == 0;
  }
  StackLimit(const StackLimit&) = delete;
  ~StackLimit() { setrlimit(RLIMIT_STACK, &before_); }
  bool is_set() const { return is_set_; }

 private:
  rlimit before_{};
  bool is_set_ = false;
};

class CallersTest : public ::testing::TestWithParam<CallersCase> {
 protected:
  static void SetUpTestSuite() {
    folder_ = "/tmp/profiler-callers-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    const Finished probe = Run({Runfile("profiler"), "record", "-o", "probe.data", "--", "true"});
    if (probe.exit_code != 0) forbidden_ = probe.err;
    static const std::regex kMayRun(R"re("id": ?"bpf",[^}]*"state": ?"yes")re");
    reads_large_stacks_ = std::regex_search(Profiler({"doctor", "--json"}).out, kMayRun);
  }
  static void TearDownTestSuite() { fs::remove_all(folder_); }

  void SetUp() override {
    if (!forbidden_.empty()) GTEST_SKIP() << "this kernel lets nothing be recorded: " << forbidden_;
    const Program& program = *GetParam().program;
    if (Shell("command -v " + program.compiler).exit_code != 0) {
      GTEST_SKIP() << "not installed: " << program.compiler << " (Debian: " << program.package
                   << ")";
    }
    const std::string problem = Build();
    if (!problem.empty()) GTEST_SKIP() << program.name << " cannot be made here: " << problem;
  }

  static Finished Run(std::vector<std::string> argv) {
    return tests::Run(std::move(argv), folder_);
  }
  // Runs a shell command. Sets HOME and adds the directory of rustup's programs to PATH, because
  // Bazel does not pass PATH and HOME.
  static Finished Shell(const std::string& line) {
    return Run({"sh", "-c", "export HOME=${HOME:-/root}; PATH=$PATH:$HOME/.cargo/bin; " + line});
  }
  static Finished Profiler(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Runfile("profiler"));
    return Run(std::move(arguments));
  }

  static std::string Filled(const std::string& text) {
    const CallersCase& one = GetParam();
    return absl::StrReplaceAll(text, {{"{frame}", absl::StrCat(one.frame)},
                                      {"{depth}", absl::StrCat(one.depth)},
                                      {"{changes}", absl::StrCat(one.changes)},
                                      {"{seconds}", kSeconds},
                                      {"{stack}", absl::StrCat(one.KiB())}});
  }

  // Builds the program in a folder of its own, unless an earlier case has built it. Returns the
  // error if the build fails.
  std::string Build() {
    const Program& program = *GetParam().program;
    const std::string line = Filled(program.build);
    const std::string key = absl::StrCat(line, program.sources.front());
    const auto [at, is_new] = built_.try_emplace(key, absl::StrCat(built_.size()));
    program_folder_ = folder_ + "/" + at->second;
    if (!is_new) return {};
    fs::create_directory(program_folder_);
    std::string sources;
    for (const std::string& source : program.sources) {
      const std::string copy = absl::StrCat(program_folder_, "/", source);
      fs::copy_file(Runfile(absl::StrCat("tests/callers/programs/", source)), copy);
      absl::StrAppend(&sources, " '", copy, "'");
    }
    const Finished made =
        Shell(absl::StrCat("cd ", program_folder_, " && set --", sources, " && ", line));
    if (made.exit_code == 0) return {};
    built_.erase(at);
    fs::remove_all(program_folder_);
    return made.err.substr(0, made.err.find('\n'));
  }

  static std::vector<std::string> Words(const std::string& text) {
    return absl::StrSplit(text, ' ');
  }

  // Returns the program's command line.
  static std::vector<std::string> Command() { return Words(Filled(GetParam().program->command)); }

  static std::vector<std::string> RecordCommand() {
    std::vector<std::string> argv = {Runfile("profiler"), "record", "-o", folder_ + "/perf.data"};
    for (const std::string& option : Words(GetParam().options)) argv.push_back(option);
    return argv;
  }

  // Records the program's whole life; with `-a`, all other programs, too.
  Finished Launch() const {
    std::vector<std::string> argv = RecordCommand();
    if (GetParam().mode == Mode::kSystem) argv.emplace_back("-a");
    argv.emplace_back("--");
    for (const std::string& word : Command()) argv.push_back(word);
    return tests::Run(std::move(argv), program_folder_);
  }

  // Opens a FIFO for writing as soon as a reader has opened it. Returns -1 if none does within a
  // minute.
  static int OpenFifo(const std::string& path) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < give_up) {
      const int fd = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
      if (fd >= 0 || errno != ENXIO) return fd;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return -1;
  }

  // Starts the program and attaches the recorder. The program goes on when recording has begun.
  Finished Attach() {
    const std::string wait = folder_ + "/wait", control = folder_ + "/control",
                      answer = folder_ + "/answer";
    for (const std::string& path : {wait, control, answer}) {
      fs::remove(path);
      EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    }
    setenv("CALLERS_WAIT", wait.c_str(), 1);
    Running program(Command(), program_folder_);
    unsetenv("CALLERS_WAIT");
    const int go = OpenFifo(wait);
    EXPECT_GE(go, 0) << "the program does not get ready";
    if (go < 0) return {};
    const int answers = open(answer.c_str(), O_RDWR | O_CLOEXEC);
    std::vector<std::string> argv = RecordCommand();
    argv.insert(argv.end(), {"-p", absl::StrCat(program.pid()), "-D", "-1", "--control",
                             absl::StrCat("fifo:", control, ",", answer)});
    Running recorder(argv, folder_);
    const int controls = OpenFifo(control);
    EXPECT_GE(controls, 0) << "the recorder does not get ready";
    char text[16] = {};
    if (controls >= 0) {
      EXPECT_EQ(write(controls, "enable\n", 7), 7);
      EXPECT_GT(read(answers, text, sizeof text), 0);
      EXPECT_EQ(std::string_view(text).substr(0, 3), "ack");
    }
    close(go);
    Finished ended = program.Wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    Finished recorded = recorder.Wait();
    close(answers);
    close(controls);
    return recorded;
  }

  static inline std::string folder_, forbidden_;
  static inline bool reads_large_stacks_ = false;           // True if BPF programs can be loaded.
  static inline std::map<std::string, std::string> built_;  // [build command]: folder
  std::string program_folder_;
};

double Sum(const std::map<std::string, double>& weights) {
  double sum = 0;
  for (const auto& [what, weight] : weights) sum += weight;
  return sum;
}

// Returns one line per key of `weights`, each with an example chain from `shown`.
std::string Text(const std::map<std::string, double>& weights, const ShownChains& shown) {
  std::string text;
  for (const auto& [what, weight] : weights) {
    const std::string& chain = shown.examples.at(what);
    const size_t from = chain.size() - std::min(chain.size(), kMostText);
    absl::StrAppend(&text, "\n  ", what, " (", Percent(weight, shown.all()), " %), such as ",
                    from > 0 ? "…" : "", chain.substr(from));
  }
  return text;
}

TEST_P(CallersTest, WhatIsShownIsWhatTheProgramDoes) {
  const CallersCase& one = GetParam();
  const Program& program = *one.program;
  const StackLimit limit(static_cast<rlim_t>(one.KiB()) * 1024);
  if (!limit.is_set()) GTEST_SKIP() << "the hard limit of the stack is too low";
  Finished recorded;
  Losses losses;
  for (int i = 0; i < kTries && (i == 0 || losses.percent > kMostLost); ++i) {
    recorded = one.mode == Mode::kAttached ? Attach() : Launch();
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
    losses = LossesIn(recorded.err);
    ASSERT_TRUE(losses.is_known) << recorded.err;
  }
  if (losses.percent > kMostLost) {
    GTEST_SKIP() << "this machine is too busy: samples were lost in each of several tries";
  }
  const KnownCalls calls(program.language, program.calls, program.deep, program.leaf);
  const auto chains_in = [&](const char* part) {
    const Finished folded = Profiler({"folded", "--full-names", "--time", part});
    EXPECT_EQ(folded.exit_code, 0) << folded.err;
    return ReadChains(folded.out, calls, one.depth, one.mode == Mode::kSystem ? program.comm : "");
  };
  const ShownChains shown = chains_in("0%-100%");

  const double reached = shown.alpha + shown.beta;
  const double samples = reached * one.Frequency() / 1e9;
  const double alpha = Percent(shown.alpha, reached);
  const std::string report = Profiler({"report", "--chains"}).out;
  const std::optional<double> stated = StatedWhole(report);
  const double whole = Percent(shown.whole, shown.all());
  const double unnamed = Percent(shown.unnamed, shown.all());
  std::printf(
      "%-46s %5.0f samples of known time, alpha %5.1f %%; whole %6.2f %%, said %6.2f %%, cut %5.2f "
      "%%,"
      " unmarked %5.2f %%, invented %5.2f %%, unnamed %5.2f %%, without stack %4.2f %%\n",
      one.Name().c_str(), samples, alpha, whole, stated.value_or(-1),
      Percent(shown.cut, shown.all()), Percent(shown.unmarked, shown.all()),
      Percent(Sum(shown.invented), shown.all()), unnamed,
      Percent(shown.without_stack, shown.all() + shown.without_stack));

  EXPECT_GT(shown.all(), 0);
  EXPECT_TRUE(shown.invented.empty())
      << "calls that the program does not make:" << Text(shown.invented, shown);
  EXPECT_TRUE(shown.wrong_depths.empty())
      << "whole chains with frames that are not there, or without some that are:"
      << Text(shown.wrong_depths, shown);
  if (samples >= kFewestSamples && unnamed <= kMostUnnamed) {
    const double sigma = std::sqrt(kAlphaShare * (100 - kAlphaShare) / samples);
    EXPECT_NEAR(alpha, kAlphaShare, std::max(kMostPoints, 3 * sigma)) << samples << " samples";
  }

  if (one.HasLargeStack()) {
    if (reads_large_stacks_) {
      const ShownChains later = chains_in(kSecondHalf);
      EXPECT_GE(Percent(later.whole, later.all()), kFewestWhole) << "chains on a large stack";
    } else {
      std::printf("not checked that chains are whole: BPF programs cannot be loaded here\n");
    }
  }

  // With `-a`, the stated share includes other programs. Their chains may or may not be whole.
  const double total = shown.all() + shown.others;
  const double lowest = Percent(shown.whole, total) - kMostPointsOfWhole;
  const double highest = Percent(shown.whole + shown.others, total) + kMostPointsOfWhole;
  const auto expect_stated = [&](std::optional<double> said, const char* where) {
    ASSERT_TRUE(said.has_value()) << where;
    EXPECT_GE(*said, lowest) << where;
    EXPECT_LE(*said, highest) << where;
  };
  expect_stated(stated, "report --chains");
  // The recorder cannot know the chains that views unwind later.
  if (one.options.find("post-unwind") == one.options.npos) {
    expect_stated(StatedWhole(recorded.err), "record");
  }
  expect_stated(StatedWholeInJson(Profiler({"report", "--json"}).out), "report --json");
}

INSTANTIATE_TEST_SUITE_P(Callers, CallersTest, ::testing::ValuesIn(ChosenCallersCases()),
                         [](const auto& info) { return info.param.Name(); });

}  // namespace
}  // namespace profiler::tests
