#include "src/cli/terminal/terminal.h"

#include <sys/stat.h>

#include <fstream>
#include <map>
#include <string>

#include "gtest/gtest.h"

namespace profiler::cli {
namespace {

class TerminalTest : public testing::Test {
 protected:
  TerminalStyle Style(const TerminalFacts& facts, const TerminalChoice& choice = {}) const {
    return StyleOf(facts, choice, [&](const char* name) {
      const auto variable = variables_.find(name);
      return variable == variables_.end() ? "" : variable->second;
    });
  }

  static constexpr TerminalFacts kTerminal = {.is_terminal = true, .columns = 80};
  std::map<std::string, std::string> variables_ = {{"PAGER", "more"}};
};

TEST_F(TerminalTest, AFileGetsTheTextAsItIs) {
  variables_["COLUMNS"] = "80";
  EXPECT_EQ(Style({}), TerminalStyle());
}

TEST_F(TerminalTest, ATerminalGetsColoursItsWidthAndAPager) {
  EXPECT_EQ(Style(kTerminal), (TerminalStyle{.columns = 80, .colour = true, .pager = "more"}));
}

TEST_F(TerminalTest, TheWidthMayBeSaid) {
  variables_["COLUMNS"] = "132";
  EXPECT_EQ(Style(kTerminal).columns, 132u);
  EXPECT_EQ(Style({.is_terminal = true}).columns, 132u);
  for (const char* const wrong : {"", "0", "-1", "80x", "99999999999999999999999"}) {
    variables_["COLUMNS"] = wrong;
    EXPECT_EQ(Style(kTerminal).columns, 80u) << wrong;
    EXPECT_EQ(Style({.is_terminal = true}).columns, 0u) << wrong;
  }
}

TEST_F(TerminalTest, ColoursMayBeRefused) {
  EXPECT_FALSE(Style(kTerminal, {.colour = Colour::kNever}).colour);
  variables_["NO_COLOR"] = "1";
  EXPECT_FALSE(Style(kTerminal).colour);
  EXPECT_TRUE(Style(kTerminal, {.colour = Colour::kAlways}).colour);
  variables_["NO_COLOR"] = "";
  EXPECT_TRUE(Style(kTerminal).colour);
  variables_["TERM"] = "dumb";
  EXPECT_FALSE(Style(kTerminal).colour);
}

TEST_F(TerminalTest, AFileGetsColoursWhereTheyAreDemanded) {
  EXPECT_EQ(Style({}, {.colour = Colour::kAlways}), (TerminalStyle{.colour = true}));
}

TEST_F(TerminalTest, ThePagerIsOursBeforeThatOfAllPrograms) {
  variables_["PROFILER_PAGER"] = "less -S";
  EXPECT_EQ(Style(kTerminal).pager, "less -S");
  variables_["PROFILER_PAGER"] = "cat";
  EXPECT_EQ(Style(kTerminal).pager, "");
  EXPECT_EQ(Style(kTerminal, {.pager = false}).pager, "");
}

TEST_F(TerminalTest, LessIsThePagerWhereItIsInstalled) {
  const std::string folder = testing::TempDir() + "/pagers";
  mkdir(folder.c_str(), 0700);
  variables_ = {{"PATH", "/no/such:" + folder}, {"TERM", "xterm"}};
  EXPECT_EQ(Style(kTerminal).pager, "");
  std::ofstream(folder + "/less") << "#!/bin/sh\n";
  chmod((folder + "/less").c_str(), 0700);
  EXPECT_EQ(Style(kTerminal).pager, "less");
  variables_["TERM"] = "dumb";
  EXPECT_EQ(Style(kTerminal).pager, "");
  variables_.erase("TERM");
  EXPECT_EQ(Style(kTerminal).pager, "");
}

TEST_F(TerminalTest, AViewTakesTheTerminalUnlessPlainTextIsWanted) {
  const auto takes = [&](const TerminalChoice& choice) {
    return MayTakeTerminal(choice, [&](const char* name) {
      const auto variable = variables_.find(name);
      return variable == variables_.end() ? "" : variable->second;
    });
  };
  EXPECT_TRUE(takes({}));
  EXPECT_FALSE(takes({.pager = false}));
  variables_["PROFILER_PAGER"] = "cat";
  EXPECT_FALSE(takes({}));
  variables_["PROFILER_PAGER"] = "less";
  variables_["PAGER"] = "cat";
  EXPECT_TRUE(takes({})) << "$PROFILER_PAGER comes first";
  variables_["PROFILER_UI"] = "stdio";
  EXPECT_FALSE(takes({}));
}

}  // namespace
}  // namespace profiler::cli
