#include "src/cli/usage/usage.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/usage/command_line.h"
#include "src/cli/usage/completion.h"
#include "src/cli/usage/manual.h"

namespace profiler::usage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class UsageTest : public testing::Test {
 protected:
  UsageTest() {
    app_.SetVersion("thing 1.2\nof much");
    Command& run = app_.AddCommand("run", "Run a program");
    run.SetRunsProgram();
    run.AddOption("-m,--mode", text_, "how it is run; see there").ValueName("slow|fast[,N]|N");
    run.AddOption("-o,--output", text_, "file to write").ValueName("FILE").ShowDefault();
    run.AddOption("--level", number_, "of the noise: 'low', or so").InRange(0, 9);
    run.AddFlag("--big,--no-big{false}", flag_, "as large as may be");
    Command& show = app_.AddCommand("show", "Show what was found.\nAll of it");
    show.AddOption("FILE", texts_, "what to read").Required();
    show.AddOption("--colour", text_, "in this one").OneOf({"red", "blue"});
  }
  Usage Described() { return UsageOf(app_); }

  std::string text_ = "out";
  std::vector<std::string> texts_;
  int number_ = 0;
  bool flag_ = false;
  Command app_{"thing", "Does things.\nMany of them."};
};

TEST_F(UsageTest, HasCommandsAndOptionsAsHelpListsThem) {
  const Usage usage = Described();
  EXPECT_EQ(usage.program, "thing");
  EXPECT_EQ(usage.version, "thing 1.2");
  ASSERT_EQ(usage.commands.size(), 2u);
  const CommandUsage& run = usage.commands[0];
  EXPECT_EQ(run.name, "run");
  EXPECT_TRUE(run.runs_program);
  ASSERT_EQ(run.options.size(), 5u);
  EXPECT_THAT(run.options[0].names, ElementsAre("-h", "--help"));
  EXPECT_THAT(run.options[1].names, ElementsAre("-m", "--mode"));
  EXPECT_EQ(run.options[1].value, "slow|fast[,N]|N");
  EXPECT_THAT(run.options[1].choices, ElementsAre("slow", "fast"));
  EXPECT_EQ(run.options[2].value, "FILE");
  EXPECT_EQ(run.options[2].default_value, "out");
  EXPECT_EQ(run.options[3].value, "INT");
  EXPECT_THAT(run.options[4].names, ElementsAre("--big", "--no-big"));
  EXPECT_EQ(run.options[4].value, "");
  const CommandUsage& show = usage.commands[1];
  EXPECT_FALSE(show.runs_program);
  ASSERT_EQ(show.arguments.size(), 1u);
  EXPECT_THAT(show.arguments[0].names, ElementsAre("FILE"));
  EXPECT_TRUE(show.arguments[0].is_required);
  EXPECT_TRUE(show.arguments[0].repeats);
  EXPECT_EQ(show.options[1].value, "red|blue");
}

TEST(ChoicesTest, AreWordsAmongAlternatives) {
  EXPECT_THAT(ChoicesOf("fp|dwarf[,BYTES]|auto|none"), ElementsAre("fp", "dwarf", "auto", "none"));
  EXPECT_THAT(ChoicesOf("{a,perf.data}"), ElementsAre("a", "perf.data"));
  EXPECT_THAT(ChoicesOf("PID|NAME,…"), IsEmpty());
  EXPECT_THAT(ChoicesOf("fd:N[,N]|fifo:PATH"), IsEmpty());
  EXPECT_THAT(ChoicesOf("0,2-3"), IsEmpty());
  EXPECT_THAT(ChoicesOf(""), IsEmpty());
}

TEST_F(UsageTest, AManualPageHasWhatHelpSays) {
  const Usage usage = Described();
  const std::string page = ManualPage(usage, usage.commands[0]);
  EXPECT_THAT(page, HasSubstr(".TH THING\\-RUN 1 \"\" \"thing 1.2\" \"User Commands\"\n.ad l\n"
                              ".SH NAME\nthing\\-run \\- run a program\n"
                              ".SH SYNOPSIS\n\\fBthing\\fR \\fBrun\\fR [\\fIOPTIONS\\fR] "
                              "[\\fB\\-\\-\\fR] [\\fIPROGRAM\\fR [\\fIARGUMENT\\fR ...]]\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-m\\fR, \\fB\\-\\-mode\\fR \\fIslow|fast[,N]|N\\fR\n"
                              "how it is run; see there.\n"));
  EXPECT_THAT(page, HasSubstr("file to write. Default: \\fBout\\fR.\n"));
  EXPECT_THAT(page, HasSubstr("of the noise: \\(aqlow\\(aq, or so.\n"));
  EXPECT_THAT(page, HasSubstr("If the program that was run"));
  EXPECT_THAT(ManualPage(usage, usage.commands[1]),
              HasSubstr("[\\fIOPTIONS\\fR] \\fIFILE\\fR ...\n.SH DESCRIPTION\n"
                        "Show what was found. All of it.\n.TP\n\\fIFILE\\fR\nwhat to read.\n"));
  EXPECT_THAT(ManualPage(usage), HasSubstr(".SH NAME\nthing \\- does things\n.SH SYNOPSIS\n"));
  EXPECT_THAT(ManualPage(usage), HasSubstr(".TP\n\\fBthing\\-run\\fR(1)\nRun a program.\n"));
}

TEST(TroffTest, NothingInATextIsARequest) {
  EXPECT_EQ(Troff(".so /etc/passwd\n'x\\fB"), "\\&.so /etc/passwd\n\\&\\(aqx\\efB");
}

TEST(TroffTest, ALongListMayBeBrokenAfterItsCommas) {
  EXPECT_EQ(Troff("comm,dso, sym"), "comm,\\:dso, sym");
}

TEST(TroffTest, AnEllipsisIsSeenOnEveryTerminal) {
  EXPECT_EQ(Troff("NAME,…"), "NAME,...");
  EXPECT_EQ(Troff("…"), "\\&...");
}

TEST_F(UsageTest, ForZshOptionsAreQuotedAndExcludeTheirOtherNames) {
  const std::string text = Completion(Shell::kZsh, Described());
  EXPECT_THAT(text, testing::StartsWith("#compdef thing\n"));
  EXPECT_THAT(text, HasSubstr("'(-m --mode)--mode=[how it is run]:slow|fast\\[,N\\]|N:"
                              "(slow fast)' \\\n"));
  EXPECT_THAT(text, HasSubstr("'--level=[of the noise\\: '\\''low'\\'', or so]:INT: ' \\\n"));
}

TEST_F(UsageTest, ForFishOptionsAreThoseOfTheirCommand) {
  const std::string text = Completion(Shell::kFish, Described());
  EXPECT_THAT(text, HasSubstr("complete -c thing -n '__fish_seen_subcommand_from show' -l colour "
                              "-x -a 'red blue' -d 'in this one'\n"));
  EXPECT_THAT(text, HasSubstr("complete -c thing -n __fish_use_subcommand -a run "
                              "-d 'Run a program'\n"));
}

}  // namespace
}  // namespace profiler::usage
