// Checks the profiler's output in a pseudo-terminal.

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/format/perf_data/testing/recording_builder.h"

namespace profiler::tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Seen {
  std::string text;  // output; escape is shown as '^', carriage returns are removed
  int exit_code = -1;
};

// Reads the output until the last process that uses the terminal has closed it.
std::string ReadAll(int terminal) {
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = read(terminal, buffer, sizeof(buffer))) > 0) {
    text.append(buffer, static_cast<size_t>(got));
  }
  std::erase(text, '\r');
  std::ranges::replace(text, '\033', '^');
  return text;
}

class TerminalTest : public testing::Test {
 protected:
  TerminalTest() {
    auto writer = perf_data::Writer::Create(
        recording_, {{perf_data::UsualAttr(), "cpu-clock", {1}}}, size_t{0});
    perf_event::RecordBuilder records(perf_data::UsualAttr());
    records.By(7, 7).Id(1).At(1).Comm("app").Mmap2(0x1000, 0x1000, 0, kImage);
    for (uint64_t time = 2; time < 400; ++time) {
      records.At(time).Period(time < 10 ? 1000 : 1).Sample(0x1000 + time % 300);
    }
    EXPECT_TRUE(perf_data::AppendAll(**writer, records).ok());
    EXPECT_TRUE((*writer)->Finish(perf_data::UsualFeatures()).ok());
  }

  // Runs the profiler in a terminal of 80 columns. Sets the environment variables `variables` and
  // TERM.
  Seen Profiler(std::vector<std::string> arguments, const std::vector<std::string>& variables) {
    arguments.insert(arguments.begin(), std::string(std::getenv("TEST_SRCDIR")) + "/" +
                                            std::getenv("TEST_WORKSPACE") + "/profiler");
    winsize size = {.ws_row = 24, .ws_col = 80};
    int terminal = -1;
    const pid_t pid = forkpty(&terminal, nullptr, nullptr, &size);
    if (pid == 0) Execute(arguments, variables);
    Seen seen{.text = ReadAll(terminal)};
    close(terminal);
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status)) seen.exit_code = WEXITSTATUS(status);
    return seen;
  }
  Seen Report(std::vector<std::string> options, const std::vector<std::string>& variables) {
    options.insert(options.begin(), {"report", "-i", recording_, "--no-children"});
    return Profiler(options, variables);
  }

  [[noreturn]] static void Execute(std::vector<std::string>& arguments,
                                   const std::vector<std::string>& variables) {
    for (const char* const name : {"PAGER", "PROFILER_PAGER", "NO_COLOR", "COLUMNS", "LESS"}) {
      unsetenv(name);
    }
    setenv("TERM", "xterm", 1);
    setenv("PROFILER_UI", "stdio", 1);  // not the browser of reports
    for (const std::string& variable : variables) {
      const size_t equals = variable.find('=');
      setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
    }
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }

  static constexpr char kImage[] =
      "/opt/"
      "a_rather_long_name_of_an_image_that_alone_is_wider_than_a_terminal_of_eighty_columns.so";
  const std::string recording_ = perf_data::TestPath("recording");
};

TEST_F(TerminalTest, LinesAreNotWiderThanTheTerminalAndPercentagesHaveColours) {
  const Seen seen = Report({}, {"PAGER=cat"});
  EXPECT_EQ(seen.exit_code, 0);
  EXPECT_THAT(seen.text, HasSubstr("^[31m11.93%^[m  app"));
  EXPECT_THAT(seen.text, HasSubstr("_columns.so  [.] 0x0000000000000002\n"));
  EXPECT_THAT(seen.text, Not(HasSubstr(kImage + 5)));
}

TEST_F(TerminalTest, WithoutColoursAndPagerTheTextIsThatOfAFile) {
  const std::string plain[] = {
      Report({"--no-pager"}, {"PAGER=false", "COLUMNS=1000", "NO_COLOR=1"}).text,
      Report({"--no-pager", "--color=never"}, {"PAGER=false", "COLUMNS=1000"}).text};
  EXPECT_THAT(plain[0], HasSubstr(kImage + 5));
  EXPECT_THAT(plain[0], Not(HasSubstr("^")));
  EXPECT_EQ(plain[1], plain[0]);
}

TEST_F(TerminalTest, APagerShowsTheText) {
  const Seen seen = Report({}, {"PAGER=false", "PROFILER_PAGER=sed 's/^/PAGER /'"});
  EXPECT_EQ(seen.exit_code, 0);
  EXPECT_THAT(seen.text, StartsWith("PAGER # To display"));
}

TEST_F(TerminalTest, LessIsToldNotToWrapAndToPassColoursOn) {
  EXPECT_THAT(Report({}, {"PAGER=echo LESS is $LESS; cat >/dev/null"}).text, "LESS is FRSX\n");
  EXPECT_THAT(Report({}, {"LESS=i", "PAGER=echo LESS is $LESS; cat >/dev/null"}).text,
              "LESS is i\n");
}

TEST_F(TerminalTest, WhoLeavesThePagerEndsTheProgramWithoutAWord) {
  const Seen seen =
      Profiler({"script", "-i", recording_, "--no-cache", "-F", "comm"}, {"PAGER=head -n 1"});
  EXPECT_EQ(seen.text, "             app \n");
  EXPECT_EQ(seen.exit_code, 0);
}

TEST_F(TerminalTest, ThePagerEndsBeforeWarningsAreShown) {
  std::vector<std::byte> bytes = perf_data::ReadFile(recording_);
  bytes.resize(bytes.size() / 2);
  perf_data::WriteFile(recording_, bytes);
  const Seen seen = Report({}, {"PAGER=sed 's/^/PAGER /'; echo DONE"});
  EXPECT_THAT(seen.text, HasSubstr("\nDONE\nprofiler: warning:"));
}

TEST_F(TerminalTest, ARecordingEndsWithItsSummary) {
  const std::string file = perf_data::TestPath("recorded");
  const auto record = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"record", "-o", file});
    options.insert(options.end(), {"--", "sh", "-c", "for i in $(seq 20000); do :; done"});
    return Profiler(options, {});
  };
  const Seen seen = record({});
  if (seen.exit_code != 0) GTEST_SKIP() << "this kernel lets nothing be recorded: " << seen.text;
  EXPECT_THAT(seen.text, HasSubstr("\nWhere it goes, by function"));
  EXPECT_THAT(seen.text, HasSubstr("\nTo see more\n"));
  for (const char* option : {"--no-summary", "-q", "--embed=none", "--repeat=1"}) {
    EXPECT_THAT(record({option}).text, Not(HasSubstr("Where it goes"))) << option;
  }
}

TEST_F(TerminalTest, AViewSaysHowToOpenTheFileThatItWrote) {
  EXPECT_THAT(
      Profiler({"flamegraph", "-i", recording_, "-o", perf_data::TestPath("f.svg")}, {}).text,
      testing::ContainsRegex(
          "wrote[ \n]+.*f\\.svg;[ \n]+open[ \n]+it[ \n]+in[ \n]+a[ \n]+browser"));
  const Seen page =
      Profiler({"flamegraph", "-i", recording_, "-o", perf_data::TestPath("f.html")}, {});
  EXPECT_THAT(page.text, testing::ContainsRegex("samples;[ \n]+open[ \n]+it[ \n]+in"));
  EXPECT_THAT(page.text, Not(HasSubstr("wrote")));
}

TEST_F(TerminalTest, AnErrorTakesNoPager) {
  const Seen seen = Profiler({"report", "-i", "/no/such"}, {"PAGER=sed s/^/PAGER/"});
  EXPECT_EQ(seen.text, "profiler: /no/such: No such file or directory\n");
  EXPECT_EQ(seen.exit_code, 1);
}

TEST_F(TerminalTest, AnUnknownChoiceOfColoursIsAnError) {
  const Seen seen = Report({"--color=red"}, {});
  EXPECT_EQ(seen.text,
            "profiler: report: --color: 'red' is not one of auto, always, never (see profiler\n"
            "  report --help)\n");
  EXPECT_EQ(seen.exit_code, 2);
}

}  // namespace
}  // namespace profiler::tests
