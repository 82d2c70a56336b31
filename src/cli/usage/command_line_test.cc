#include "src/cli/usage/command_line.h"

#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::usage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() {
    program_.SetVersion("thing 1.2");
    program_.RequireCommand();
    words_option_ = run_.AddOption("-w,--word", words_, "some").OneValueEach();
    count_option_ = run_.AddOption("-n,--count", count_, "so many").InRange(1, 9).ShowDefault();
    big_option_ = run_.AddFlag("--big", big_, "all").Excludes(count_option_);
    run_.AddOption(
        "--even", [this](const std::string& value) { return ReadEven(value); }, "2, 4");
    run_.SetRunsProgram();
  }

  absl::Status ReadEven(const std::string& value) {
    even_ = value;
    if (value == "2" || value == "4") return absl::OkStatus();
    return absl::InvalidArgumentError("'" + value + "' is not even");
  }

  std::string ErrorOf(std::vector<std::string> arguments) {
    const Parsed parsed = program_.Parse(std::move(arguments));
    EXPECT_EQ(parsed.kind, Parsed::Kind::kError);
    return parsed.text;
  }

  std::vector<std::string> words_;
  int count_ = 3;
  bool big_ = false;
  std::string even_;
  Command program_{"thing", "Does things."};
  Command& run_ = program_.AddCommand("run", "Run a program");
  Command& stop_ = program_.AddCommand("stop", "Stop it");
  Option words_option_, count_option_, big_option_;
};

TEST_F(CommandLineTest, VariablesHaveWhatWasTyped) {
  const Parsed parsed = program_.Parse({"run", "-w", "a", "-n5", "--even", "4", "--word=b"});
  EXPECT_EQ(parsed.kind, Parsed::Kind::kCommand) << parsed.text;
  EXPECT_TRUE(run_.WasGiven());
  EXPECT_FALSE(stop_.WasGiven());
  EXPECT_THAT(words_, ElementsAre("a", "b"));
  EXPECT_EQ(count_, 5);
  EXPECT_FALSE(big_);
  EXPECT_EQ(even_, "4");
  EXPECT_EQ(words_option_.Count(), 2u);
  EXPECT_EQ(run_.Count("--word"), 2u);
  EXPECT_EQ(run_.Count("--no-such-option"), 0u);
  const std::vector<Option> given = run_.GivenOptions();
  ASSERT_EQ(given.size(), 4u);
  EXPECT_EQ(given[0], words_option_);
  EXPECT_EQ(given[1], count_option_);
  EXPECT_EQ(given[3], words_option_);
  EXPECT_THAT(run_.Remaining(), IsEmpty());
}

TEST_F(CommandLineTest, AProgramsCommandLineIsLeftAsItIs) {
  EXPECT_EQ(program_.Parse({"run", "--big", "ls", "--big", "-n"}).kind, Parsed::Kind::kCommand);
  EXPECT_THAT(run_.Remaining(), ElementsAre("ls", "--big", "-n"));
}

TEST_F(CommandLineTest, MessagesSayWhatIsWrong) {
  EXPECT_EQ(ErrorOf({}), "a command is missing");
  EXPECT_EQ(ErrorOf({"stop", "--now"}), "unknown option --now");
  EXPECT_EQ(ErrorOf({"stop", "now", "-n"}), "unknown option -n");
  EXPECT_EQ(ErrorOf({"stop", "now"}), "unexpected argument 'now'");
  EXPECT_EQ(ErrorOf({"run", "-n", "10"}), "--count: '10' is not a number from 1 to 9");
  EXPECT_EQ(ErrorOf({"run", "-n"}), "--count needs a value");
  EXPECT_EQ(ErrorOf({"run", "-n", "1", "--big"}), "--count and --big cannot be used together");
  EXPECT_EQ(ErrorOf({"run", "--even", "3"}), "--even: '3' is not even");
}

TEST_F(CommandLineTest, AMisspeltOptionGetsTheNearestOne) {
  EXPECT_EQ(ErrorOf({"run", "--cuont=3"}), "unknown option --cuont; did you mean '--count'?");
  EXPECT_EQ(ErrorOf({"run", "--xyzzyx"}), "unknown option --xyzzyx");
  EXPECT_EQ(ErrorOf({"--hepl"}), "unknown option --hepl; did you mean '--help'?");
}

TEST_F(CommandLineTest, AMisspeltWordGetsTheNearestOne) {
  std::string colour;
  stop_.AddOption("--colour", colour, "which").OneOf({"red", "green"});
  EXPECT_EQ(ErrorOf({"stop", "--colour", "gren"}),
            "--colour: 'gren' is not one of red, green; did you mean 'green'?");
}

TEST_F(CommandLineTest, HelpBreaksListsThatAreWiderThanALine) {
  std::string keys, value;
  for (int i = 10; i < 40; ++i)
    keys += (i == 10 ? "" : ",") + std::string("key") + std::to_string(i);
  Command app("thing", "Does things.");
  app.AddOption("--sort", value, "keys: " + keys + " (default: key10)");
  const std::string help = app.Help(80);
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  std::string joined = help;
  std::erase_if(joined, [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_NE(joined.find(keys), std::string::npos) << help;
}

TEST_F(CommandLineTest, HelpAndVersionAreAnswers) {
  const Parsed version = program_.Parse({"-V"});
  EXPECT_EQ(version.kind, Parsed::Kind::kAnswer);
  EXPECT_EQ(version.text, "thing 1.2\n");
  const Parsed help = program_.Parse({"run", "--help"});
  EXPECT_EQ(help.kind, Parsed::Kind::kAnswer);
  EXPECT_EQ(help.text, run_.Help());
}

TEST_F(CommandLineTest, HelpShowsValuesAndDefaultsInsteadOfTypes) {
  Command& from = run_.AddAlternatives("Where from");
  std::string file;
  from.AddOption("--file", file, "a file").ValueName("FILE");
  std::string place;
  run_.AddOption("PLACE", place, "where").Required();
  run_.SetFooter("That is all.");
  EXPECT_EQ(run_.Help(), R"(Run a program

Usage: thing run [OPTIONS] PLACE [-- CMD [ARGUMENT…]]

Arguments:
  PLACE                   where

Options:
  -h, --help              Print this help message and exit
  -w, --word TEXT         some
  -n, --count N           so many (default: 3)
  --big                   all
  --even TEXT             2, 4
  --file FILE             a file (exactly one of --file)

That is all.
)");
  EXPECT_EQ(program_.Help(), R"(Does things.

Usage: thing [OPTIONS] COMMAND …

Commands:
  run                     Run a program
  stop                    Stop it

Options:
  -h, --help              Print this help message and exit
  -V, --version           Display program version information and exit

`thing help COMMAND` explains a command.
)");
}

TEST_F(CommandLineTest, HelpIsAsWideAsTheTerminalAndBreaksBetweenWords) {
  std::string place;
  run_.AddOption("--a-name-that-fills-its-column", place,
                 "a long text that does not fit into one line of a narrow terminal");
  const std::string help = run_.Help(/*columns=*/60);
  EXPECT_THAT(help, HasSubstr("  --a-name-that-fills-its-column TEXT\n"
                              "                          a long text that does not fit into\n"
                              "                          one line of a narrow terminal\n"));
}

TEST_F(CommandLineTest, TheBeginningOfALongNameIsTheName) {
  const Parsed parsed =
      program_.Parse({"run", "--wo", "--co", "--ev=2", "--cou", "5", "ls", "--bi", "--co"});
  EXPECT_EQ(parsed.kind, Parsed::Kind::kCommand) << parsed.text;
  EXPECT_THAT(words_, ElementsAre("--co"));  // a value
  EXPECT_EQ(even_, "2");
  EXPECT_EQ(count_, 5);
  EXPECT_FALSE(big_);
  EXPECT_THAT(run_.Remaining(), ElementsAre("ls", "--bi", "--co"));
}

TEST_F(CommandLineTest, TheBeginningOfSeveralNamesIsAnErrorThatNamesThem) {
  bool old = false, counted = false;
  stop_.AddFlag("--counted", counted, "counted");
  stop_.AddFlag("-c,--count,--counts", counted, "count");
  stop_.AddFlag("--no-old", old, "old");
  EXPECT_EQ(ErrorOf({"stop", "--co"}), "--co is ambiguous: it begins --counted and --count");
}

TEST_F(CommandLineTest, AWholeNameIsNotTheBeginningOfAnother) {
  bool longer = false;
  run_.AddFlag("--bigger", longer, "longer");
  EXPECT_EQ(program_.Parse({"run", "-w", "--big", "--big"}).kind, Parsed::Kind::kCommand);
  EXPECT_TRUE(big_);
  EXPECT_FALSE(longer);
  EXPECT_THAT(words_, ElementsAre("--big"));
}

TEST_F(CommandLineTest, OfSeveralValuesTheLastCounts) {
  EXPECT_EQ(program_.Parse({"run", "-n", "2", "-n", "4", "--even", "2", "--even", "4"}).kind,
            Parsed::Kind::kCommand);
  EXPECT_EQ(count_, 4);
  EXPECT_EQ(even_, "4");
}

TEST_F(CommandLineTest, ARefusedOptionSaysWhatServesInstead) {
  stop_.AddRefused("-x,--hard", "", "run kill");
  stop_.AddRefused("--how", "WAY", "run kill -WAY");
  EXPECT_EQ(ErrorOf({"stop", "-x"}), "--hard: run kill");
}

TEST(CommandTest, ARefusedOptionTakesItsValue) {
  Command program("thing", "Does things.");
  program.AddRefused("--how", "WAY", "run kill -WAY");
  EXPECT_EQ(program.Parse({"--how", "gently"}).text, "--how: run kill -WAY");
}

TEST(CommandTest, TheProgramsNamesAreCompletedBehindACommand) {
  Command program("thing", "Does things.");
  bool loud = false, low = false;
  program.AddFlag("--loud", loud, "be heard");
  Command& show = program.AddCommand("show", "Show it");
  show.AddFlag("--low", low, "not much");
  show.AcceptProgramOptions();
  EXPECT_EQ(program.Parse({"show", "--lou"}).kind, Parsed::Kind::kCommand);
  EXPECT_TRUE(loud);
}

TEST(CommandTest, OneOfTheAlternativesHasToBeGiven) {
  Command program("thing", "Does things.");
  Command& from = program.AddAlternatives("Where from");
  std::string file;
  uint32_t number = 0;
  from.AddOption("--file", file, "a file");
  from.AddOption("--number", number, "a number").Positive();
  EXPECT_EQ(program.Parse({}).text, "give exactly one of --file and --number");
  EXPECT_EQ(program.Parse({"--file", "x", "--number", "1"}).text,
            "give exactly one of --file and --number");
  EXPECT_EQ(program.Parse({"--number", "1"}).kind, Parsed::Kind::kCommand);
  EXPECT_EQ(number, 1u);
}

TEST(CommandTest, ProgramOptionsStandBehindTheCommandsThatAcceptThem) {
  for (const bool accepted : {false, true}) {
    Command program("thing", "Does things.");
    bool loud = false;
    program.AddFlag("--loud", loud, "be heard");
    Command& show = program.AddCommand("show", "Show it");
    if (accepted) show.AcceptProgramOptions();
    EXPECT_EQ(program.Parse({"show", "--loud"}).kind == Parsed::Kind::kCommand, accepted);
    EXPECT_EQ(loud, accepted);
  }
}

}  // namespace
}  // namespace profiler::usage
