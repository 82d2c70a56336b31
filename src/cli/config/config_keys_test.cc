#include "src/cli/config/config_keys.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace profiler::config {
namespace {

// Returns the options for a command, then its pager, warnings and errors, separated by blanks.
std::string Read(const Typed& typed, const std::string& text) {
  const auto settings = ParseConfig(text);
  if (!settings.ok()) return std::string(settings.status().message());
  const Defaults defaults = DefaultsFor(typed, *settings);
  std::string result;
  const auto add = [&](const std::string& word) {
    absl::StrAppend(&result, result.empty() ? "" : " ", word);
  };
  for (const Default& option : defaults.options) add(option.word);
  if (!defaults.pager.empty()) add("pager " + defaults.pager);
  for (const std::string& warning : defaults.warnings) add(warning);
  for (const std::string& error : defaults.errors) add(error);
  return result;
}

TEST(ConfigKeys, StandForOptionsOfTheirCommand) {
  const std::string text = "[report]\nchildren = off\nsort_order = dso\n[top]\nchildren\n";
  EXPECT_EQ(Read({.command = "report"}, text), "--no-children --sort=dso");
  EXPECT_EQ(Read({.command = "top"}, text), "--children");
  EXPECT_EQ(Read({.command = "record"}, text), "");
}

TEST(ConfigKeys, CountTheLastSettingOfAKey) {
  EXPECT_EQ(Read({.command = "report"}, "[report]\nchildren = off\nchildren = on\n"), "--children");
}

TEST(ConfigKeys, GiveWayToOptionsOfTheUser) {
  const std::string text =
      "[report]\nchildren = off\nsort_order = dso\n[tui]\nreport = off\n[record]\nfreq = 99\n";
  EXPECT_EQ(Read({.command = "report", .options = {"--children", "--fields", "--tui"}}, text), "");
  EXPECT_EQ(Read({.command = "record"}, text), "--freq=99");
  EXPECT_EQ(Read({.command = "record", .options = {"--count"}}, text), "");
}

TEST(ConfigKeys, SayWhichCallChainsTheShortOptionMeans) {
  const std::string text =
      "[call-graph]\nrecord-mode = dwarf\ndump-size = 4096\n[top]\ncall-graph = fp\n";
  EXPECT_EQ(Read({.command = "record"}, text), "");
  EXPECT_EQ(Read({.command = "record", .options = {"-g"}}, text), "--call-graph=dwarf,4096");
  EXPECT_EQ(Read({.command = "record", .options = {"-g", "--call-graph"}}, text), "");
  EXPECT_EQ(Read({.command = "top", .options = {"-g"}}, text), "--call-graph=fp");
}

TEST(ConfigKeys, DrawCallGraphsByOneOption) {
  EXPECT_EQ(Read({.command = "report"},
                 "[call-graph]\norder = caller\nthreshold = 2\nprint-type = graph\n"),
            "--call-graph=caller,graph,2");
}

TEST(ConfigKeys, NameColoursAndPagers) {
  const std::string text = "[color]\nui = false\n[pager]\nreport = less -R\nstat = false\n";
  EXPECT_EQ(Read({.command = "report"}, text), "--color=never pager less -R");
  EXPECT_EQ(Read({.command = "stat"}, text), "--color=never --no-pager");
  EXPECT_EQ(Read({.command = "report"}, "[color]\nui = always\n"), "--color=always");
}

TEST(ConfigKeys, LeaveAPageAsItIs) {
  EXPECT_EQ(Read({.command = "report", .makes_page = true}, "[report]\nsort_order = dso\n"), "");
}

TEST(ConfigKeys, OfPerfMayHaveNoEffectAndOthersGetAWarning) {
  EXPECT_EQ(Read({.command = "report"}, "[colors]\ntop = red\n[report]\nqueue-size = 1\n"), "");
  EXPECT_EQ(Read({.command = "report"}, "[annotate]\nobjdump = /tmp/x\n"), "");
  EXPECT_EQ(Read({.command = "report"}, "[report]\nchilden = off\n"),
            "2: there is no key 'report.childen'; did you mean 'report.children'?");
}

TEST(ConfigKeys, WithWrongSwitchesAreErrors) {
  EXPECT_EQ(Read({.command = "report"}, "[report]\nchildren = maybe\n"),
            "2: report.children: 'maybe' is not true or false");
}

TEST(ConfigKeys, AreNotReadByCommandsThatPrintForPrograms) {
  for (const char* const command : {"report", "top", "record", "annotate"}) {
    EXPECT_TRUE(ReadsConfig(command)) << command;
  }
  for (const char* const command : {"script", "folded", "export", "agent", "push", ""}) {
    EXPECT_FALSE(ReadsConfig(command)) << command;
  }
}

}  // namespace
}  // namespace profiler::config
