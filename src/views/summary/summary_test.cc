#include "src/views/summary/summary.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::summary {
namespace {

using profile::EventId;
using profile::HandmadeProfile;
using profile::Profile;
using testing::HasSubstr;
using testing::Not;

// Returns a program that alternates between two functions, enters the kernel, and leaves the CPU
// idle.
HandmadeProfile Program() {
  HandmadeProfile builder;
  builder.InOrder().Event("cpu-clock");
  for (int i = 0; i < 100; ++i) {
    builder.Thread(7, 7).Sample("app", {"main@app", "parse@app"}, 6);
    builder.Thread(7, 8).Sample("pool", {"main@app", "print@app", "write@libc.so.6"}, 2);
    builder.Sample("pool", {"main@app", "print@app", "copy@[kernel.kallsyms]"}, 1);
    builder.Thread(0, 0).Sample("swapper", {"halt@[kernel.kallsyms]"}, 1);
  }
  return builder;
}

std::string TextOf(const Profile& profile, EventId event = EventId{0}) {
  return FormatSummary(Summarize(profile, event),
                       {.path = "perf.data", .command = "app --fast", .seconds = 1.5});
}

TEST(Summary, SaysWhatWasRecorded) {
  HandmadeProfile builder = Program();
  EXPECT_THAT(TextOf(builder.profile()),
              testing::StartsWith("perf.data: app --fast\n"
                                  "1.000 s of cpu-clock in 1000 samples, taken in 1.5 s. Nothing "
                                  "was lost.\n"));
}

TEST(Summary, RanksFunctionsByWhatTheyHaveThemselvesWithTheirIntervals) {
  HandmadeProfile builder = Program();
  const Summary summary = Summarize(builder.profile(), EventId{0});
  ASSERT_EQ(summary.functions.size(), 4u);
  EXPECT_EQ(summary.functions[0].name, "parse");
  EXPECT_EQ(summary.functions[0].image, "app");
  EXPECT_NEAR(summary.functions[0].share.part, 0.6, 1e-9);
  EXPECT_EQ(summary.functions[0].share.amount, 600e6);
  EXPECT_LT(summary.functions[0].share.interval.low, 0.6);
  EXPECT_GT(summary.functions[0].share.interval.high, 0.6);
  EXPECT_EQ(summary.functions[1].name, "write");
  EXPECT_THAT(TextOf(builder.profile()),
              testing::ContainsRegex("   60.0 ± [0-9.]+ +%  0.600 s  parse  app\n"));
}

TEST(Summary, SaysWhichFunctionsChanceMayHaveRankedAndWhatWouldTell) {
  HandmadeProfile builder;
  builder.InOrder().Event("cpu-clock");
  for (int i = 0; i < 10; ++i) {
    builder.Sample("app", {"one@app"}).Sample("app", {"two@app"}).Sample("app", {"three@app"}, 8);
  }
  builder.Sample("app", {"two@app"});
  EXPECT_THAT(TextOf(builder.profile()), HasSubstr("Too few samples to rank two and one; about "));
}

// Returns the name in the first row of a summary of one function, whose image is "app".
std::string ShownName(const std::string& name) {
  HandmadeProfile builder;
  builder.InOrder().Event("cpu-clock").Sample("app", {"f@app"}, 100);
  Profile& profile = builder.profile();
  profile.symbols[0].name = profile.strings.Intern(name);
  const std::string text = TextOf(builder.profile());
  const size_t begin = text.find(" s  ", text.find("Where it goes")) + 4;
  return text.substr(begin, text.find("  app", begin) - begin);
}

TEST(Summary, OfALongNameTheFunctionsOwnNameAndTheBeginOfItsParametersStay) {
  EXPECT_EQ(ShownName("ns::parse(int)"), "ns::parse(int)");
  EXPECT_EQ(ShownName("std::vector<std::pair<int, std::string> >::push_back(std::pair<int>&&)"),
            "std::vector<...>::push_back(std::pair<...>&&)");
  EXPECT_EQ(ShownName("unsigned long long ns::Widget::draw<int>(std::map<int, char>, "
                      "std::vector<int> const&, bool)"),
            "ns::Widget::draw<...>(std::map<...>, std::vecto…");
  EXPECT_EQ(ShownName("company::product::component::detail::Implementation::run(char const*)"),
            "company::product::compon…il::Implementation::run");
  EXPECT_EQ(ShownName("a_function_in_c_whose_name_is_longer_than_any_row_of_a_summary"),
            "a_function_in_c_whose_na…an_any_row_of_a_summary");
}

TEST(Summary, SaysThatPythonsFunctionsHaveNoNames) {
  HandmadeProfile builder = Program();
  EXPECT_THAT(TextOf(builder.profile()), Not(HasSubstr("Python")));
  for (int i = 0; i < 100; ++i) {
    builder.Thread(9, 9).Sample("app", {"main@python3.11", "eval@python3.11"}, 10);
  }
  for (profile::Image& image : builder.profile().images) {
    if (builder.profile().text(image.name) == "python3.11")
      image.kind = symbolize::ImageKind::kUser;
  }
  EXPECT_THAT(TextOf(builder.profile()),
              testing::ContainsRegex(
                  "\\.\nPython 3.11 took 50.0 %, and its functions have no names: record "
                  "-g, .* PYTHONPERFSUPPORT=1,\\s+would\\s+name\\s+them\\.\n"));
}

TEST(Summary, FollowsTheHeaviestCalleeAsLongAsItHasMost) {
  HandmadeProfile builder = Program();
  std::string path;
  for (const PathStep& step : Summarize(builder.profile(), EventId{0}).path) {
    path += step.function + ' ';
  }
  EXPECT_EQ(path, "main parse ");
}

TEST(Summary, ThePathHasInlinedFunctionsAndTheImagesOfCodeWithoutNames) {
  const auto path_of = [](HandmadeProfile& builder) {
    std::string path;
    for (const PathStep& step : Summarize(builder.profile(), EventId{0}).path) {
      path += step.function + ' ';
    }
    return path;
  };
  // Equal functions: once inlined, once called, and called from two addresses.
  HandmadeProfile names;
  names.InOrder().Event("cpu-clock");
  names.Sample("app", {"main@app", "add<step<run@app", "0x1234@lib.so"}, 3);
  names.Sample("app", {"main+0x8@app", "run@app", "step@app", "add@app", "0x5678@lib.so"}, 3);
  names.Sample("app", {"main@app", "run@app", "print@app"}, 1);
  EXPECT_EQ(path_of(names), "main run step add [lib.so] ");

  HandmadeProfile tie;
  tie.InOrder().Event("cpu-clock");
  tie.Sample("app", {"main@app", "second@app"}, 2).Sample("app", {"main@app", "first@app"}, 2);
  EXPECT_EQ(path_of(tie), "main second ");
}

TEST(Summary, ALongPathIsItsInnerEnd) {
  HandmadeProfile builder;
  builder.InOrder().Event("cpu-clock");
  std::vector<std::string> chain;
  for (int i = 0; i < 40; ++i) chain.push_back("f" + std::to_string(i) + "@app");
  builder.Sample("app", chain, 10);
  const Summary summary = Summarize(builder.profile(), EventId{0});
  ASSERT_EQ(summary.path.size(), 6u);
  EXPECT_EQ(summary.path.back().function, "f39");
}

TEST(Summary, TellsProgramsTheKernelAndIdleTimeApart) {
  HandmadeProfile builder = Program();
  EXPECT_THAT(TextOf(builder.profile()),
              HasSubstr("User code 80.0 %, kernel 10.0 %, idle 10.0 %. Threads: app 60.0 %, pool "
                        "30.0 %,\nswapper 10.0 %.\n"));
}

TEST(Summary, SaysWhatIsMissing) {
  HandmadeProfile builder = Program();
  EXPECT_THAT(TextOf(builder.profile()), HasSubstr(". Nothing was lost.\n"));
  builder.profile().losses.lost_samples = 5;
  builder.profile().chains.complete = 90;
  builder.profile().chains.cuts = {{.chains = 10, .reason = "stack too short", .image = "app"}};
  const std::string text = TextOf(builder.profile());
  EXPECT_THAT(text, HasSubstr(" s. Lost: 5 samples lost.\n"));
  builder.profile().losses = {.is_incomplete = true};
  EXPECT_THAT(TextOf(builder.profile()), HasSubstr("Lost: the end of the\nrecording.\n"));
  EXPECT_THAT(text, HasSubstr("Stacks: 90.0 % are whole"));
  EXPECT_THAT(text, HasSubstr("profiler report --chains"));
}

TEST(Summary, SharesMakeUpForMissingSamplesAndAmountsDoNot) {
  HandmadeProfile builder;
  builder.InOrder().Event("cpu-clock").Sample("app", {"main@app", "parse@app"}, 300);
  builder.StandingFor(3, 10).Sample("app", {"main@app", "print@app"}, 100);
  builder.profile().losses.lost_records = 200;
  builder.profile().losses.lost_events = 20;
  const std::string text = TextOf(builder.profile());
  EXPECT_THAT(text, HasSubstr("0.400 s of cpu-clock in 400 samples"));
  EXPECT_THAT(text, testing::ContainsRegex("   50.0 ± [0-9.]+ +%  0.300 s  parse  app\n"));
  EXPECT_THAT(text, testing::ContainsRegex("   50.0 ± [0-9.]+ +%  0.100 s  print  app\n"));
  EXPECT_THAT(text,
              HasSubstr("Lost: 200 records lost in\n20 gaps. So 33.3 % of the samples are missing; "
                        "shares are corrected for them,\ntimes and counts are not.\n"));
}

TEST(Summary, ThreadsAndPathsMakeUpForMissingSamples) {
  HandmadeProfile builder;
  builder.InOrder().Event("cpu-clock").Sample("quick", {"main@app", "parse@app"}, 300);
  builder.StandingFor(5, 10).Sample("slow", {"main@app", "copy@[kernel.kallsyms]"}, 100);
  const Summary summary = Summarize(builder.profile(), EventId{0});
  EXPECT_EQ(summary.threads[0].name, "slow");
  EXPECT_NEAR(summary.threads[0].part, 0.625, 1e-9);
  EXPECT_NEAR(summary.kernel, 0.625, 1e-9);
  EXPECT_EQ(summary.path.back().function, "copy");
}

TEST(Summary, NamesTheImageThatHasMostWithoutAName) {
  HandmadeProfile builder = Program();
  builder.Sample("app", {"main@app", "0x1234@libbig.so"}, 1000);
  const std::string text = TextOf(builder.profile());
  EXPECT_THAT(text,
              HasSubstr("Names: 50.0 % of the weight is in functions with a name; most of the "
                        "rest is in\nlibbig.so (50.0 %).\n"));
  EXPECT_THAT(text, HasSubstr("profiler report --unresolved"));
}

TEST(Summary, SaysHowToGetTheNamesOfAStrippedImage) {
  HandmadeProfile builder = Program();
  builder.Sample("app", {"main@app", "0x1234@libbig.so"}, 1000);
  const auto set_reason = [&](profile::Unnamed reason) {
    for (profile::Frame& frame : builder.profile().frames) {
      if (frame.unnamed != profile::Unnamed::kNamed) frame.unnamed = reason;
    }
  };
  set_reason(profile::Unnamed::kBuildIdMismatch);
  EXPECT_EQ(Summarize(builder.profile(), EventId{0}).most_unnamed->path, "")
      << "the file is not the recorded one";
  set_reason(profile::Unnamed::kNoSymbol);
  const Summary summary = Summarize(builder.profile(), EventId{0});
  EXPECT_EQ(summary.most_unnamed->path, "/usr/lib/libbig.so");
  Layout layout;
  layout.symbols_remedy = "install the debug symbols of package big";
  EXPECT_THAT(FormatSummary(summary, {.path = "perf.data"}, layout),
              HasSubstr("To name libbig.so: install the debug symbols of package big.\n"));
}

TEST(Summary, WithoutCallersSaysHowToHaveThem) {
  HandmadeProfile builder;
  builder.InOrder().Event("cpu-clock").Sample("app", {"main@app"}, 10);
  const std::string text = TextOf(builder.profile());
  EXPECT_THAT(text, HasSubstr("Stacks: none were recorded"));
  EXPECT_THAT(text, HasSubstr("profiler record -g"));
  EXPECT_THAT(text, Not(HasSubstr("busiest path")));
}

TEST(Summary, OfNoSampleSaysWhatThatMeans) {
  const std::string text = FormatSummary({}, {.path = "perf.data"});
  EXPECT_THAT(text, HasSubstr("No sample was taken"));
  EXPECT_THAT(text, Not(HasSubstr("0 of ")));
}

TEST(Summary, OfWhatIsCountedHasNoInterval) {
  HandmadeProfile builder;
  builder.InOrder().Event("page-faults").Sample("app", {"main@app"}, 10, 1);
  const std::string text = TextOf(builder.profile(), EventId{1});
  EXPECT_THAT(text, HasSubstr("counts are exact"));
  EXPECT_THAT(text, HasSubstr("  100.0 %  10  main"));
}

TEST(Summary, OfTimesThatAreEstimatedHasIntervals) {
  HandmadeProfile builder;
  builder.InOrder().Event("offcpu-time").Sample("app", {"wait@app"}, 1, 3'000'000);
  builder.Sample("app", {"lock@app"}, 1, 1'000'000);
  EXPECT_THAT(TextOf(builder.profile(), EventId{1}), HasSubstr("counts are exact"));
  builder.profile().events[1].estimate = {
      .switches = 1000, .sampled = 100, .period = 400'000, .samples = 100};
  const std::string text = TextOf(builder.profile(), EventId{1});
  EXPECT_THAT(text, HasSubstr("(± is the 95 % interval)"));
  EXPECT_THAT(text, HasSubstr("estimated, because 100 of 1000 context\nswitches have a stack.\n"));
  EXPECT_THAT(text, HasSubstr("   75.0 ± 1.0  %"));
}

// Returns a program with many functions, long names, unnamed code, waits and cut stacks.
HandmadeProfile Server() {
  HandmadeProfile builder = Program();
  for (int i = 0; i < 30; ++i) {
    std::vector<std::string> chain;
    for (int k = 0; k < 20; ++k) {
      chain.push_back("connection_handler_function_" + std::to_string(k + (k > 15 ? i : 0)) +
                      "(std::vector<std::string>)@server");
    }
    builder.Thread(7, 10 + static_cast<uint32_t>(i));
    builder.Sample("thread" + std::to_string(i), chain, 50);
  }
  builder.Sample("app", {"0x1234@libbig.so"}, 1000);
  builder.Event("offcpu-time");
  builder.Sample("app", {"main@app", "take@app", "__futex_wait@[kernel.kallsyms]"}, 6);
  builder.profile().chains.cuts = {{.chains = 10, .reason = "stack too short", .image = "app"}};
  return builder;
}

size_t LinesOf(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

size_t LongestLineOf(const std::string& text) {
  size_t longest = 0, width = 0;
  for (const char c : text) {
    if (c == '\n') width = 0;
    if (c != '\n' && (static_cast<uint8_t>(c) & 0xc0) != 0x80) longest = std::max(longest, ++width);
  }
  return longest;
}

TEST(Summary, FitsATerminal) {
  HandmadeProfile builder = Server();
  const Summary summary = Summarize(builder.profile(), EventId{0});
  const json::RecordingFacts facts = {.path = "perf.data", .command = std::string(200, 'x')};
  const std::string text = FormatSummary(summary, facts);
  EXPECT_LT(LinesOf(text), 23) << "less(1) waits for a key if 23 of 24 lines are used";
  EXPECT_LE(LongestLineOf(text), 80) << text;
  for (const Layout& layout : {Layout{.columns = 80, .lines = 40}, {.columns = 132, .lines = 50}}) {
    const std::string larger = FormatSummary(summary, facts, layout);
    EXPECT_LT(LinesOf(larger), layout.lines - 1);
    EXPECT_GT(LinesOf(larger), 24);
    EXPECT_LE(LongestLineOf(larger), layout.columns) << larger;
  }
}

TEST(Summary, ShowsAsManyFunctionsAsAskedFor) {
  HandmadeProfile builder = Server();
  const std::string text =
      FormatSummary(Summarize(builder.profile(), EventId{0}, 20), {}, {.functions = 20});
  const std::string leaves = text.substr(text.find("by themselves"));
  EXPECT_EQ(LinesOf(leaves.substr(0, leaves.find(" other function"))), 21) << text;
}

// Returns the names of the functions of own code in their order.
std::string OwnFunctions(const Profile& profile) {
  std::string names;
  for (const FunctionShare& function : Summarize(profile, EventId{0}).own) {
    names += function.name + ' ';
  }
  return names;
}

TEST(Summary, BeginsWithTheFunctionsOfTheUsersCodeWithTheirCallees) {
  HandmadeProfile builder = Program();
  builder.Sample("app", {"_start@app", "__libc_start_main@libc.so.6", "main@app", "parse@app"}, 1);
  EXPECT_EQ(OwnFunctions(builder.profile()), "main parse print ");
  EXPECT_THAT(TextOf(builder.profile()),
              testing::ContainsRegex("\n\nWhere it goes, by function of your code with callees "
                                     "\\(± is the 95 % interval\\)\n"
                                     "   90.0 ± [0-9.]+ +%  0.901 s  main   app\n|main  app\n"));
}

TEST(Summary, TheLineOfAFunctionWithCalleesIsTheLineOfItsHeaviestCall) {
  HandmadeProfile builder;
  builder.InOrder().Event("cpu-clock");
  builder.Sample("app", {"main@app", "copy<add@app"}, 8).Sample("app", {"main@app", "add+0x8@app"});
  Profile& profile = builder.profile();
  for (profile::Line& line : profile.lines) {
    const bool is_copy = profile.text(profile[line.symbol].name) == "copy";
    line.file = profile.strings.Intern(is_copy ? "/usr/include/basic_string.h" : "words.cc");
    line.line = is_copy ? 544 : 39;
  }
  for (const profile::Frame& frame : profile.frames) {
    if (frame.line_count == 2) profile.lines[frame.first_line + 1].line = 40;
  }
  const Summary summary = Summarize(profile, EventId{0});
  const auto add = std::ranges::find(summary.own, "add", &FunctionShare::name);
  ASSERT_NE(add, summary.own.end());
  EXPECT_EQ(add->source, "words.cc:40");
}

TEST(Summary, AnInterpreterIsTheUsersCodeOnlyWithoutOtherCode) {
  HandmadeProfile builder;
  builder.InOrder().Event("cpu-clock");
  builder.Sample("python3", {"main@python3.11", "eval@python3.11", "malloc@libc.so.6"}, 9);
  EXPECT_EQ(OwnFunctions(builder.profile()), "main eval ");
  builder.Sample("python3", {"main@python3.11", "eval@python3.11", "parse@_json.so"}, 1);
  EXPECT_EQ(OwnFunctions(builder.profile()), "parse ");
}

TEST(Summary, ThePathBeginsInTheUsersCodeAndOmitsItsMiddle) {
  HandmadeProfile builder;
  builder.InOrder().Event("cpu-clock");
  std::vector<std::string> chain = {"_start@app", "__libc_start_main@libc.so.6"};
  for (int i = 0; i < 20; ++i) chain.push_back("f" + std::to_string(i) + "@app");
  builder.Sample("app", chain, 10);
  builder.Sample("kworker", {"kthread@[kernel.kallsyms]", "work@[kernel.kallsyms]"}, 90);
  const std::string text = TextOf(builder.profile());
  EXPECT_THAT(text, HasSubstr("its callees\n   10.0 %  f0\n"));
  EXPECT_THAT(text, HasSubstr(" more calls\n"));
  EXPECT_THAT(text, testing::ContainsRegex("   10.0 % +f19\n"));
  EXPECT_THAT(text, Not(HasSubstr("%  kthread")));
}

TEST(Summary, SumsUpWaitsByTheirKind) {
  HandmadeProfile builder = Program();
  builder.Event("offcpu-time");
  builder.Sample("app", {"main@app", "take@app", "__futex_wait@[kernel.kallsyms]"}, 6);
  builder.Sample("app", {"main@app", "serve@app", "ep_poll@[kernel.kallsyms]"}, 3);
  builder.Sample("app", {"main@app", "other@[kernel.kallsyms]"}, 1);
  EXPECT_THAT(TextOf(builder.profile()),
              HasSubstr("\nWaiting: 0.010 s of all threads, for\n"
                        "   60.0 %  0.006 s  a lock or a condition (__futex_wait) in take\n"
                        "   30.0 %  0.003 s  events of sockets and files (ep_poll) in serve\n"
                        "   10.0 %  0.001 s  something else (other) in main\n"));
}

TEST(Summary, WaitsForTheEndOfAThreadAreNoWaitsForLocks) {
  HandmadeProfile builder = Program();
  builder.Event("offcpu-time");
  builder.Sample("app", {"main@app", "___pthread_join@libc.so.6", "__futex_wait@[kernel.kallsyms]"},
                 6);
  builder.Sample("app",
                 {"take@app", "pthread_mutex_lock@libc.so.6", "__futex_wait@[kernel.kallsyms]"}, 4);
  EXPECT_THAT(TextOf(builder.profile()),
              HasSubstr("   60.0 %  0.006 s  the end of a thread (___pthread_join) in main\n"
                        "   40.0 %  0.004 s  a lock or a condition (__futex_wait) in take\n"));
}

TEST(Summary, AnIdleProcessIsCalledIdle) {
  HandmadeProfile builder;
  builder.InOrder().Event("cpu-clock").Sample("app", {"main@app"}, 10);
  const Summary summary = Summarize(builder.profile(), EventId{0});
  EXPECT_THAT(FormatSummary(summary, {.seconds = 60}), HasSubstr("\nThe process was idle most"));
  EXPECT_THAT(FormatSummary(summary, {.seconds = 0.1}), Not(HasSubstr("idle")));
}

TEST(Summary, AdviceRepeatsTheOptions) {
  HandmadeProfile builder = Program();
  EXPECT_THAT(FormatSummary(Summarize(builder.profile(), EventId{0}), {.path = "perf.data"},
                            {.options = "--comms app"}),
              HasSubstr("\n  profiler report --comms app  "));
}

TEST(Summary, NamesOfOthersCannotSteerATerminal) {
  HandmadeProfile builder;
  builder.InOrder().Event("cpu-clock").Sample("a\x1b[2Jpp", {"ma\x1b[2Jin@a\npp"}, 10);
  const std::string text = TextOf(builder.profile());
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("a?pp"));
}

TEST(Summary, AdviceCanBeTypedAsItStands) {
  HandmadeProfile builder;
  builder.InOrder();
  builder.Sample("app", {"copy@[kernel.kallsyms]"}, 30);
  builder.Sample("app", {"next(int)<read(char const*)@app"}, 20);
  const std::string text =
      FormatSummary(Summarize(builder.profile(), EventId{0}), {.path = "it's/perf.data"});
  EXPECT_EQ(text.substr(text.find("To see more")),
            "To see more\n"
            "  profiler annotate -i 'it'\\''s/perf.data' 'read(char const*)'\n"
            "  profiler report -i 'it'\\''s/perf.data' --no-children          all functions\n"
            "  profiler record -g -- COMMAND                                 records callers\n");
}

TEST(Summary, WhatCameThroughAPipeCannotBeReadAgain) {
  HandmadeProfile builder;
  builder.InOrder().Sample("app", {"main@app"}, 30);
  EXPECT_EQ(FormatSummary(Summarize(builder.profile(), EventId{0}), {.path = "-"}).find("To see"),
            std::string::npos);
}

TEST(Summary, NamesOfThreadsThatNeedMoreThanALineHaveMore) {
  HandmadeProfile builder;
  builder.InOrder();
  for (uint32_t i = 0; i < 40; ++i) {
    constexpr const char* kNames[] = {"first-name-of-15", "other-name-of-15", "third-name-of-15"};
    builder.Thread(7, 10 + i).Sample(kNames[i % 3], {"main@app"}, 10 - i % 3);
  }
  EXPECT_THAT(FormatSummary(Summarize(builder.profile(), EventId{0}), {.path = "perf.data"}),
              HasSubstr("Threads: first-name-of-15 38.8 % (14 threads),\n"
                        "other-name-of-15 32.4 % (13 threads), third-name-of-15 28.8 % (13 "
                        "threads).\n"));
}

}  // namespace
}  // namespace profiler::summary
