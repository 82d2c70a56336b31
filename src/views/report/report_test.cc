#include "src/views/report/report.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/analysis/latency.h"
#include "src/profile/testing/handmade_profile.h"
#include "src/views/report/options.h"
#include "src/views/report/testing/format_report.h"

namespace profiler::report {
namespace {

using profile::HandmadeProfile;

constexpr char kNothing[] = "#\n# Total Lost Samples: 0\n#\n";

// Returns the report below the column headings, which other tests check.
std::string Rows(HandmadeProfile& builder, const ReportOptions& options = {}) {
  const std::string text = FormatReport(builder.profile(), options);
  const size_t dots = text.find("\n# ..");
  if (dots == std::string::npos) return text;
  const size_t start = text.find("#\n", dots + 3);
  return text.substr(start + 2);
}

ReportOptions Without(CallGraphType type = CallGraphType::kNone) {
  return {.call_graph = {.type = type}};
}

TEST(ReportTest, AnEmptyProfileHasNoSections) {
  HandmadeProfile builder;
  EXPECT_EQ(FormatReport(builder.profile(), {}), kNothing);
  EXPECT_EQ(FormatReport(profile::Profile(), {}), kNothing);
}

TEST(ReportTest, SamplesWithoutCallersGiveOneOverheadColumn) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app"}, 3).Sample("app", {"copy@[kernel.kallsyms]"});
  EXPECT_EQ(FormatReport(builder.profile(), {}),
            "#\n"
            "# Total Lost Samples: 0\n"
            "#\n"
            "# Samples: 4  of event 'cpu-clock'\n"
            "# Event count (approx.): 4000000\n"
            "#\n"
            "# Overhead  Command  Shared Object      Symbol  \n"
            "# ........  .......  .................  ........\n"
            "#\n"
            "    75.00%  app      app                [.] main\n"
            "    25.00%  app      [kernel.kallsyms]  [k] copy\n"
            "\n\n");
}

TEST(ReportTest, CallersHaveWhatTheyCalled) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "parse@app", "read@libc.so.6"}, 3)
      .Sample("app", {"main@app", "write@libc.so.6"});
  EXPECT_EQ(FormatReport(builder.profile(), {}),
            "#\n"
            "# Total Lost Samples: 0\n"
            "#\n"
            "# Samples: 4  of event 'cpu-clock'\n"
            "# Event count (approx.): 4000000\n"
            "#\n"
            "# Children      Self  Command  Shared Object  Symbol   \n"
            "# ........  ........  .......  .............  .........\n"
            "#\n"
            "   100.00%     0.00%  app      app            [.] main\n"
            "            |\n"
            "            ---main\n"
            "               |          \n"
            "               |--75.00%--parse\n"
            "               |          read\n"
            "               |          \n"
            "                --25.00%--write\n"
            "\n"
            "    75.00%    75.00%  app      libc.so.6      [.] read\n"
            "            |\n"
            "            ---main\n"
            "               parse\n"
            "               read\n"
            "\n"
            "    75.00%     0.00%  app      app            [.] parse\n"
            "            |\n"
            "            ---parse\n"
            "               read\n"
            "\n"
            "    25.00%    25.00%  app      libc.so.6      [.] write\n"
            "            |\n"
            "            ---main\n"
            "               write\n"
            "\n"
            "\n\n");
}

TEST(ReportTest, WithoutChildrenTheGraphGoesFromTheInterruptedFunctionToItsCallers) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "parse@app", "read@libc.so.6"}, 3)
      .Sample("app", {"main@app", "read@libc.so.6"});
  EXPECT_EQ(Rows(builder, {.children = false}),
            "   100.00%  app      libc.so.6      [.] read\n"
            "            |\n"
            "            ---read\n"
            "               |          \n"
            "               |--75.00%--parse\n"
            "               |          main\n"
            "               |          \n"
            "                --25.00%--main\n"
            "\n"
            "\n\n");
}

TEST(ReportTest, ARecursiveFunctionCountsOnceASample) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "walk@app", "walk+0x8@app", "walk+0x8@app"}, 3)
      .Sample("app", {"main@app", "walk@app"});
  EXPECT_EQ(Rows(builder, Without()),
            "   100.00%   100.00%  app      app            [.] walk\n"
            "   100.00%     0.00%  app      app            [.] main\n"
            "\n\n");
}

TEST(ReportTest, ACalleeOfARecursiveFunctionIsShownBelowItsOutermostCall) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "walk@app", "walk+0x8@app", "leaf@app"}, 3)
      .Sample("app", {"main@app", "walk@app", "leaf@app"});
  ReportOptions callee{.call_graph = {.order = ChainOrder::kCallee}};
  const std::string caller_text = Rows(builder);
  EXPECT_NE(caller_text.find("   100.00%     0.00%  app      app            [.] walk\n"
                             "            |\n"
                             "            ---walk\n"
                             "               |          \n"
                             "               |--75.00%--walk\n"
                             "               |          leaf\n"
                             "               |          \n"
                             "                --25.00%--leaf\n"),
            std::string::npos)
      << caller_text;
  const std::string callee_text = Rows(builder, callee);
  EXPECT_NE(callee_text.find("   100.00%     0.00%  app      app            [.] walk\n"
                             "            |\n"
                             "            ---walk\n"
                             "               |          \n"
                             "               |--75.00%--walk\n"
                             "               |          main\n"
                             "               |          \n"
                             "                --25.00%--main\n"),
            std::string::npos)
      << callee_text;
}

TEST(ReportTest, OwnSamplesOfACallerShowTheirWholeChain) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "work@app", "leaf@app"}, 3)
      .Sample("app", {"main@app", "work@app"});
  const std::string text = Rows(builder);
  EXPECT_NE(text.find("   100.00%    25.00%  app      app            [.] work\n"
                      "            |          \n"
                      "            |--75.00%--work\n"
                      "            |          leaf\n"
                      "            |          \n"
                      "             --25.00%--main\n"
                      "                       work\n"),
            std::string::npos)
      << text;
}

TEST(ReportTest, AChainThatStartsWithTheRowsFunctionIsMergedWithThoseBelowIt) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "leaf@app"}, 3).Sample("app", {"main@app"});
  const std::string text = Rows(builder);
  EXPECT_NE(text.find("   100.00%    25.00%  app      app            [.] main\n"
                      "            |\n"
                      "            ---main\n"
                      "               |          \n"
                      "                --75.00%--leaf\n"),
            std::string::npos)
      << text;
}

TEST(ReportTest, CallSitesOfOneFunctionAreOneBranch) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "parse+0x8@app", "read@app"})
      .Sample("app", {"main+0x4@app", "parse+0x10@app", "read@app"});
  const std::string text = Rows(builder);
  EXPECT_NE(text.find("            ---main\n"
                      "               parse\n"
                      "               read\n"
                      "\n"),
            std::string::npos)
      << text;
}

TEST(ReportTest, BranchesBelowTheThresholdAreLeftOutButStillDivide) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "hot@app"}, 999).Sample("app", {"main@app", "cold@app"});
  ReportOptions options;
  options.percent_limit = 0.5;
  EXPECT_EQ(Rows(builder, options),
            "   100.00%     0.00%  app      app            [.] main\n"
            "            |\n"
            "            ---main\n"
            "               |          \n"
            "                --99.90%--hot\n"
            "\n"
            "    99.90%    99.90%  app      app            [.] hot\n"
            "            |\n"
            "            ---main\n"
            "               hot\n"
            "\n"
            "\n\n");
}

TEST(ReportTest, FractalPercentagesAreOfTheBranchAboveAndNameTheRest) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "a@app", "b@app"}, 60)
      .Sample("app", {"main@app", "a@app", "c@app"}, 20)
      .Sample("app", {"main@app", "d@app"}, 20);
  ReportOptions options{.call_graph = {.type = CallGraphType::kFractal, .threshold = 30}};
  options.percent_limit = 100;
  EXPECT_EQ(Rows(builder, options),
            "   100.00%     0.00%  app      app            [.] main\n"
            "            |\n"
            "            ---main\n"
            "               |          \n"
            "               |--80.00%--a\n"
            "               |          |          \n"
            "               |          |--75.00%--b\n"
            "               |           --25.00%--[...]\n"
            "                --20.00%--[...]\n"
            "\n"
            "\n\n");
}

TEST(ReportTest, FlatListsEachChainAndFoldedPutsItOnALine) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "read@app"}, 3).Sample("app", {"main@app", "0x10@app"});
  ReportOptions options{.call_graph = {.type = CallGraphType::kFlat}};
  options.percent_limit = 100;
  options.call_graph.threshold = 1;
  EXPECT_EQ(Rows(builder, options),
            "   100.00%     0.00%  app      app               [.] main\n"
            "           75.00%\n"
            "                main\n"
            "                read\n"
            "\n"
            "           25.00%\n"
            "                main\n"
            "                0x10\n"
            "\n"
            "\n\n");
  options.call_graph.type = CallGraphType::kFolded;
  options.call_graph.value = ChainValue::kCount;
  options.children = false;
  options.percent_limit = 0;
  EXPECT_EQ(Rows(builder, options),
            "    75.00%  app      app               [.] read\n"
            "3 read;main\n"
            "    25.00%  app      app               [.] 0x0000000000000010\n"
            "1 0x10;main\n"
            "\n\n");
}

TEST(ReportTest, AnAddressWhereNothingIsMappedIsOneRowHoweverItsFramesStand) {
  for (const auto& [first, last] : {std::pair("0x5", "0x7"), std::pair("0x7", "0x5")}) {
    HandmadeProfile builder;
    builder.Sample("app", {first}).Sample("app", {"0x6"}, 2).Sample("app", {last}, 5);
    // A second frame at 0x5, because a caller and an interrupted function are two frames.
    profile::Frame& frame = builder.profile().frames[1];
    frame.place = frame.ip = {5};
    const bool in_order = first == std::string_view("0x5");
    EXPECT_EQ(Rows(builder), in_order
                                 ? "    62.50%  app      [unknown]         [.] 0x0000000000000007\n"
                                   "    37.50%  app      [unknown]         [.] 0x0000000000000005\n"
                                   "\n\n"
                                 : "    87.50%  app      [unknown]         [.] 0x0000000000000005\n"
                                   "    12.50%  app      [unknown]         [.] 0x0000000000000007\n"
                                   "\n\n");
  }
}

TEST(ReportTest, AnUnnamedAddressIsShownByItsPlaceInTheFileAndInChainsByItsRuntimeAddress) {
  HandmadeProfile builder;
  builder.LoadedAt(0x400000).Sample("app", {"0x401200@app", "0x401137@app"}).Sample("app", {"0x0"});
  EXPECT_EQ(Rows(builder, Without()),
            "    50.00%    50.00%  app      app               [.] 0x0000000000001137\n"
            "    50.00%    50.00%  app      [unknown]         [.] 0000000000000000\n"
            "    50.00%     0.00%  app      app               [.] 0x0000000000401137\n"
            "    50.00%     0.00%  app      app               [.] 0x0000000000401200\n"
            "\n\n");
}

TEST(ReportTest, InlinedFunctionsAreRowsWithoutSamplesOfTheirOwn) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "deep<inl<outer@app"});
  EXPECT_EQ(Rows(builder),
            "   100.00%   100.00%  app      app            [.] outer\n"
            "            |\n"
            "            ---main\n"
            "               outer\n"
            "               inl (inlined)\n"
            "               deep (inlined)\n"
            "\n"
            "   100.00%     0.00%  app      app            [.] main\n"
            "            |\n"
            "            ---main\n"
            "               outer\n"
            "               inl (inlined)\n"
            "               deep (inlined)\n"
            "\n"
            "   100.00%     0.00%  app      app            [.] inl (inlined)\n"
            "            |\n"
            "            ---inl (inlined)\n"
            "               deep (inlined)\n"
            "\n"
            "   100.00%     0.00%  app      app            [.] deep (inlined)\n"
            "            |\n"
            "            ---deep (inlined)\n"
            "\n"
            "\n\n");
  EXPECT_EQ(Rows(builder, {.call_graph = {.type = CallGraphType::kNone}, .inlines = false}),
            "   100.00%   100.00%  app      app            [.] outer\n"
            "   100.00%     0.00%  app      app            [.] main\n"
            "\n\n");
}

// perf compares functions by address, but inlined functions such as m by name. The function with
// the larger address or name comes first. By address a_second precedes z_first. By name z_first
// precedes m, and m precedes a_second. So these comparisons give no consistent order.
TEST(ReportTest, BranchesOfEqualWeightHaveOneOrderWhicheverCameFirst) {
  std::vector<std::string> callers = {"a_second@app", "m<o@app", "z_first@app"};
  std::string first;
  do {
    HandmadeProfile builder;
    // First samples fix the functions' addresses, so that they are the same each time.
    builder.Event("page-faults").Sample("app", {"z_first@app", "o@app", "a_second@app"});
    builder.Event("cpu-clock");
    for (const std::string& caller : callers) builder.Sample("app", {caller, "leaf@app"});
    const std::string rows =
        Rows(builder, {.children = false, .call_graph = {.order = ChainOrder::kCallee}});
    if (first.empty()) first = rows;
    EXPECT_EQ(rows, first);
  } while (std::next_permutation(callers.begin(), callers.end()));
}

// Returns the rows of a report without call graphs.
std::string RowsOf(const profile::Profile& profile, ReportOptions options) {
  options.call_graph.type = CallGraphType::kNone;
  options.children = false;
  std::string rows;
  const std::string text = FormatReport(profile, options);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    if (!line.empty() && line[0] != '#') rows += line + "\n";
    begin = end + 1;
  }
  return rows;
}

TEST(ReportTest, FunctionsThatShowTheSameAreOneRow) {
  HandmadeProfile builder;
  // A JIT compiled "run" twice. Two images have the same name, and each has a "main".
  builder.Sample("java", {"run@jit"}, 3).Sample("java", {"again@jit"}, 2);
  builder.Sample("java", {"main@a.so"}).Sample("java", {"main@b.so"}).Sample("java", {"init@a.so"});
  profile::Profile& profile = builder.profile();
  const auto symbol_of = [&](size_t row) -> profile::Symbol& {
    const profile::Frame& frame = profile[profile.rows[row].self];
    return profile.symbols[static_cast<uint32_t>(profile.LinesOf(frame).back().symbol)];
  };
  symbol_of(1).name = symbol_of(0).name;
  profile.images[static_cast<uint32_t>(symbol_of(3).image)].name = profile[symbol_of(2).image].name;
  EXPECT_EQ(RowsOf(profile, {}),
            "    62.50%  java     jit            [.] run\n"
            "    25.00%  java     a.so           [.] main\n"
            "    12.50%  java     a.so           [.] init\n");
  EXPECT_EQ(RowsOf(profile, {.sort = {SortKey::kSymbol}}),
            "    62.50%  [.] run\n"
            "    25.00%  [.] main\n"
            "    12.50%  [.] init\n");
}

TEST(ReportTest, EachEventWithSamplesHasASection) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app"});
  builder.Event("dummy");
  builder.Event("page-faults").Sample("app", {"main@app"}, 1500, 2);
  EXPECT_EQ(FormatReport(builder.profile(), {}),
            "#\n"
            "# Total Lost Samples: 0\n"
            "#\n"
            "# Samples: 1  of event 'cpu-clock'\n"
            "# Event count (approx.): 1000000\n"
            "#\n"
            "# Overhead  Command  Shared Object  Symbol  \n"
            "# ........  .......  .............  ........\n"
            "#\n"
            "   100.00%  app      app            [.] main\n"
            "\n\n"
            "# Samples: 1K of event 'page-faults'\n"
            "# Event count (approx.): 3000\n"
            "#\n"
            "# Overhead  Command  Shared Object  Symbol  \n"
            "# ........  .......  .............  ........\n"
            "#\n"
            "   100.00%  app      app            [.] main\n"
            "\n\n");
}

// Returns a profile with cpu-clock, page-faults, and an event without samples between them.
HandmadeProfile ThreeEvents() {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "spin@app"}, 3).Sample("app", {"main@app", "copy@app"});
  builder.Event("dummy");
  builder.Event("page-faults")
      .Sample("app", {"main@app", "copy@app"}, 1, 5)
      .Sample("app", {"start@ld.so"}, 1, 10)
      .Sample("sh", {"start@ld.so"}, 1, 85);
  return builder;
}

using profile::EventId;
using profile::HandmadeProfile;
const EventGroup kThreeEvents = {"anon group", {EventId{0}, EventId{1}, EventId{2}}};

TEST(ReportTest, EventsOfAGroupShareATableWithAColumnOfEachThatHasSamples) {
  HandmadeProfile builder = ThreeEvents();
  EXPECT_EQ(FormatReport(builder.profile(), {.groups = {kThreeEvents},
                                             .children = false,
                                             .call_graph = {.type = CallGraphType::kNone},
                                             .show_samples = true}),
            "#\n"
            "# Total Lost Samples: 0\n"
            "#\n"
            "# Samples: 7  of events 'anon group { cpu-clock, page-faults }'\n"
            "# Event count (approx.): 4000100\n"
            "#\n"
            "#         Overhead                   Samples  Command  Shared Object  Symbol   \n"
            "# ................  ........................  .......  .............  .........\n"
            "#\n"
            "    75.00%   0.00%             3           0  app      app            [.] spin\n"
            "    25.00%   5.00%             1           1  app      app            [.] copy\n"
            "     0.00%  85.00%             0           1  sh       ld.so          [.] start\n"
            "     0.00%  10.00%             0           1  app      ld.so          [.] start\n"
            "\n\n");
}

TEST(ReportTest, CallGraphsInTheTableOfAGroupAreOfItsLeader) {
  HandmadeProfile builder = ThreeEvents();
  EXPECT_EQ(Rows(builder, {.groups = {kThreeEvents}}),
            "   100.00%   5.00%     0.00%   0.00%  app      app            [.] main\n"
            "            |\n"
            "            ---main\n"
            "               |          \n"
            "               |--75.00%--spin\n"
            "               |          \n"
            "                --25.00%--copy\n"
            "\n"
            "    75.00%   0.00%    75.00%   0.00%  app      app            [.] spin\n"
            "            |\n"
            "            ---main\n"
            "               spin\n"
            "\n"
            "    25.00%   5.00%    25.00%   5.00%  app      app            [.] copy\n"
            "            |\n"
            "            ---main\n"
            "               copy\n"
            "\n"
            "     0.00%  85.00%     0.00%  85.00%  sh       ld.so          [.] start\n"
            "     0.00%  10.00%     0.00%  10.00%  app      ld.so          [.] start\n"
            "\n\n");
}

TEST(ReportTest, RowsOfAGroupAreToldApartByTheSortKeysAlone) {
  HandmadeProfile builder;
  builder.Cpu(0).Sample("a", {"main@app"}).Cpu(1).Sample("b", {"main@app"}, 3);
  builder.Event("page-faults").Cpu(1).Sample("c", {"main@app"}).Cpu(0).Sample("c", {"f@app"}, 3);
  ReportOptions options{.sort = {SortKey::kDso}, .groups = {{"", {EventId{0}, EventId{1}}}}};
  EXPECT_EQ(Rows(builder, options), "   100.00% 100.00%  app          \n\n\n");
  options.sort = {SortKey::kCpu};
  EXPECT_EQ(Rows(builder, options),
            "    75.00%  25.00%  001\n"
            "    25.00%  75.00%  000\n\n\n");
}

TEST(ReportTest, EventsOfAGroupThatIsNotJoinedHaveATableEach) {
  HandmadeProfile builder = ThreeEvents();
  const std::string text =
      FormatReport(builder.profile(), {.sort = {SortKey::kComm},
                                       .groups = {kThreeEvents},
                                       .join_groups = false,
                                       .children = false,
                                       .call_graph = {.type = CallGraphType::kNone}});
  EXPECT_EQ(text,
            "#\n"
            "# Total Lost Samples: 0\n"
            "#\n"
            "# Samples: 4  of events 'cpu-clock'\n"
            "# Event count (approx.): 4000000\n"
            "#\n"
            "# Overhead  Command\n"
            "# ........  .......\n"
            "#\n"
            "   100.00%  app    \n"
            "\n\n"
            "# Samples: 3  of event 'page-faults'\n"
            "# Event count (approx.): 100\n"
            "#\n"
            "# Overhead  Command\n"
            "# ........  .......\n"
            "#\n"
            "    85.00%  sh     \n"
            "    15.00%  app    \n"
            "\n\n");
}

TEST(ReportTest, AGroupWhoseLeaderHasNoSamplesIsLedByTheFirstThatHas) {
  HandmadeProfile builder = ThreeEvents();
  const EventGroup group{"", {EventId{1}, EventId{2}, EventId{0}}};
  const std::string text =
      FormatReport(builder.profile(), {.sort = {SortKey::kComm},
                                       .groups = {group},
                                       .children = false,
                                       .call_graph = {.type = CallGraphType::kNone}});
  EXPECT_NE(text.find("# Samples: 7  of events 'page-faults, cpu-clock'\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("    85.00%   0.00%  sh     \n    15.00% 100.00%  app    \n"),
            std::string::npos)
      << text;
}

TEST(ReportTest, PercentagesWeighPeriodsAndTheSamplesColumnCounts) {
  HandmadeProfile builder;
  builder.Sample("app", {"rare@app"}, 1, 900).Sample("app", {"often@app"}, 10, 10);
  EXPECT_EQ(Rows(builder, {.show_samples = true}),
            "    90.00%             1  app      app            [.] rare\n"
            "    10.00%            10  app      app            [.] often\n"
            "\n\n");
}

TEST(ReportTest, PeriodsOfZeroGiveZeroPercent) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "work@app"}, 2, 0);
  EXPECT_EQ(Rows(builder, {.children = false, .call_graph = {.type = CallGraphType::kNone}}),
            "     0.00%  app      app            [.] work\n"
            "\n\n");
  EXPECT_NE(Rows(builder).find("[.] main"), std::string::npos);
}

TEST(ReportTest, RowsOfOneWeightAreInOrderOfTheirKeys) {
  HandmadeProfile builder;
  builder.Sample("b", {"f@x"}).Sample("a", {"0x20@x"}).Sample("a", {"z@x"}).Sample("a", {"0x5"});
  builder.Sample("a", {"0x10@x"}).Sample("a", {"b@y"}).Sample("a", {"a@x"});
  EXPECT_EQ(Rows(builder),
            "    14.29%  a        x                 [.] a\n"
            "    14.29%  a        x                 [.] z\n"
            "    14.29%  a        x                 [.] 0x0000000000000010\n"
            "    14.29%  a        x                 [.] 0x0000000000000020\n"
            "    14.29%  a        y                 [.] b\n"
            "    14.29%  a        [unknown]         [.] 0x0000000000000005\n"
            "    14.29%  b        x                 [.] f\n"
            "\n\n");
}

TEST(ReportTest, SortKeysAreColumnsInTheirOrder) {
  HandmadeProfile builder;
  builder.Thread(10, 11).Cpu(2).Sample("exec", {"f@app"}).Sample("app", {"f@app"});
  builder.Thread(10, 12).Cpu(0).Sample("app", {"g@app"});
  ReportOptions options;
  options.sort = {SortKey::kPid, SortKey::kCpu, SortKey::kTgid};
  EXPECT_EQ(FormatReport(builder.profile(), options).substr(sizeof(kNothing) - 1),
            "# Samples: 3  of event 'cpu-clock'\n"
            "# Event count (approx.): 3000000\n"
            "#\n"
            "# Overhead      Pid:Command  CPU     Tgid:Command\n"
            "# ........  ...............  ...  ...............\n"
            "#\n"
            "    66.67%       11:app      002       10:app    \n"
            "    33.33%       12:app      000       10:app    \n"
            "\n\n");
  options.sort = {SortKey::kSymbol, SortKey::kDso};
  EXPECT_EQ(Rows(builder, options),
            "    66.67%  [.] f   app          \n"
            "    33.33%  [.] g   app          \n"
            "\n\n");
}

TEST(ReportTest, AProcessIsNamedByItsLeaderInEveryRow) {
  HandmadeProfile builder;
  builder.Thread(10, 12).Sample("worker", {"f@app"}, 3).Thread(20, 21).Sample("worker", {"f@app"});
  builder.Thread(10, 10).Sample("app", {"g@app"}, 2);
  ReportOptions options;
  options.sort = {SortKey::kTgid, SortKey::kSymbol};
  EXPECT_EQ(Rows(builder, options),
            "    50.00%       10:app      [.] f\n"
            "    33.33%       10:app      [.] g\n"
            "    16.67%       20:worker   [.] f\n"
            "\n\n");
}

TEST(ReportTest, SamplesThatDoNotSayTheirCpuAreOnNone) {
  HandmadeProfile builder;
  builder.Cpu(0).Sample("app", {"f@app"}).Cpu(profile::kNoCpu).Sample("app", {"f@app"});
  ReportOptions options;
  options.sort = {SortKey::kCpu};
  EXPECT_EQ(Rows(builder, options),
            "    50.00%  -001\n"
            "    50.00%  000\n"
            "\n\n");
}

TEST(ReportTest, TellsApartByHowManyThreadsRan) {
  HandmadeProfile builder;
  builder.Parallelism(2).Sample("app", {"f@app"}, 3);
  builder.Parallelism(profile::kOthersRan).Sample("app", {"f@app"});
  ReportOptions options;
  options.sort = {SortKey::kParallelism, SortKey::kSymbol};
  EXPECT_EQ(Rows(builder, options),
            "    75.00%            2  [.] f\n"
            "    25.00%       others  [.] f\n"
            "\n\n");
}

TEST(ReportTest, LatencyStandsBesideTheWeightThatItIsOf) {
  HandmadeProfile builder;
  builder.Parallelism(1).Sample("app", {"serial@app"}, 1, 30);
  builder.Parallelism(4).Sample("app", {"parallel@app"}, 1, 40);
  ReportOptions options;
  options.sort = {SortKey::kSymbol};
  options.latency = Latency::kFirst;
  for (const auto& [latency, event] : analysis::AddLatency(builder.profile())) {
    options.groups.push_back({.name = {}, .events = {latency, event}});
  }
  EXPECT_EQ(FormatReport(builder.profile(), options),
            "#\n"
            "# Total Lost Samples: 0\n"
            "#\n"
            "# Samples: 2  of event 'cpu-clock'\n"
            "# Event count (approx.): 70\n"
            "#\n"
            "# Latency Overhead  Symbol      \n"
            "# ................  ............\n"
            "#\n"
            "    75.00%  42.86%  [.] serial\n"
            "    25.00%  57.14%  [.] parallel\n"
            "\n\n");
}

TEST(ReportTest, LatencyMayStandBehindTheWeightThatItIsOf) {
  HandmadeProfile builder;
  builder.Parallelism(1).Sample("app", {"serial@app"}, 1, 30);
  builder.Parallelism(4).Sample("app", {"parallel@app"}, 1, 40);
  ReportOptions options;
  options.sort = {SortKey::kSymbol};
  options.latency = Latency::kSecond;
  for (const auto& [latency, event] : analysis::AddLatency(builder.profile())) {
    options.groups.push_back({.name = {}, .events = {event, latency}});
  }
  EXPECT_EQ(FormatReport(builder.profile(), options),
            "#\n"
            "# Total Lost Samples: 0\n"
            "#\n"
            "# Samples: 2  of event 'cpu-clock'\n"
            "# Event count (approx.): 70\n"
            "#\n"
            "# Overhead Latency  Symbol      \n"
            "# ................  ............\n"
            "#\n"
            "    57.14%  25.00%  [.] parallel\n"
            "    42.86%  75.00%  [.] serial\n"
            "\n\n");
}

// Fills a column with these texts, one for each row.
void FillColumn(profile::Dimension dimension, const std::vector<std::string>& texts,
                profile::Profile& profile) {
  for (const std::string& text : texts) {
    profile.column(dimension).push_back(static_cast<uint32_t>(profile.strings.Intern(text)));
  }
}

TEST(ReportTest, AccessesToMemoryAreRowsByWhatTheyMetAndCost) {
  HandmadeProfile builder;
  builder.Sample("app", {"f@app"}, 10, 300).Sample("app", {"g@app"}, 60, 7);
  profile::Profile& profile = builder.profile();
  FillColumn(profile::Dimension::kMemoryLevel, {"Local RAM hit", "L1 hit"}, profile);
  FillColumn(profile::Dimension::kWeight, {"300", "7"}, profile);
  FillColumn(profile::Dimension::kDataSymbol, {"0x0000000000001000", ""}, profile);
  ReportOptions options;
  options.sort = {SortKey::kMemoryLevel, SortKey::kLocalWeight, SortKey::kWeight,
                  SortKey::kDataSymbol};
  options.separator = ",";
  options.by_access_cost = true;
  const std::string text = FormatReport(profile, options);
  EXPECT_EQ(text.substr(text.find("# Total weight")),
            "# Total weight : 3420\n"
            "#\n"
            "# Overhead,Memory access,Local Weight,Weight,Data Symbol           \n"
            " 87.72% ,Local RAM hit,300         ,3000  ,[.] 0x0000000000001000\n"
            " 12.28% ,L1 hit       ,7           ,420   ,[.] N/A               \n"
            "\n\n");
}

TEST(ReportTest, FieldsOfTracepointsStandAtTheRightAndOnlyInTablesThatHaveThem) {
  HandmadeProfile builder;
  builder.Sample("app", {"f@app"}, 3).Sample("app", {"f@app"}, 1);
  builder.profile().rows.back().self = builder.profile().rows.front().self;
  profile::Profile& profile = builder.profile();
  profile.trace_fields = {profile.strings.Intern("next_pid"), profile.strings.Intern("other")};
  const auto dimension = [](int number) {
    return profile::Dimension{
        static_cast<uint8_t>(static_cast<int>(profile::Dimension::kTraceField) + number)};
  };
  FillColumn(dimension(0), {"4711", "5"}, profile);
  FillColumn(dimension(1), {"", ""}, profile);
  ReportOptions options;
  options.sort = {SortKey::kComm, TraceFieldKey(0), TraceFieldKey(1)};
  EXPECT_EQ(Rows(builder, options),
            "    75.00%  app          4711\n"
            "    25.00%  app             5\n"
            "\n\n");
}

TEST(ReportTest, ASymbolColumnInFrontIsNotRepeatedInTheGraph) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "read@app"});
  ReportOptions options;
  options.sort = {SortKey::kSymbol};
  EXPECT_EQ(Rows(builder, options),
            "   100.00%   100.00%  [.] read\n"
            "            |\n"
            "            ---read\n"
            "\n"
            "   100.00%     0.00%  [.] main\n"
            "            |\n"
            "            ---read\n"
            "\n"
            "\n\n");
}

TEST(ReportTest, WhatAFilterLeavesOutStillCountsInTheTotal) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "read@libc.so.6"}).Sample("app", {"main@app", "work@app"}, 3);
  ReportOptions options = Without();
  options.filter.images = {"libc.so.6"};
  EXPECT_EQ(FormatReport(builder.profile(), options),
            "# dso: libc.so.6\n"
            "#\n"
            "# Total Lost Samples: 0\n"
            "#\n"
            "# Samples: 4  of event 'cpu-clock'\n"
            "# Event count (approx.): 4000000\n"
            "#\n"
            "# Children      Self  Command  Symbol  \n"
            "# ........  ........  .......  ........\n"
            "#\n"
            "    25.00%    25.00%  app      [.] read\n"
            "    25.00%     0.00%  app      [.] main\n"
            "\n\n");
  options.relative_percentages = true;
  EXPECT_EQ(Rows(builder, options),
            "   100.00%   100.00%  app      [.] read\n"
            "   100.00%     0.00%  app      [.] main\n"
            "\n\n");
}

TEST(ReportTest, FiltersGoByThreadProcessCommAndSymbol) {
  HandmadeProfile builder;
  builder.Thread(1, 1).Sample("a", {"f@x"}).Thread(1, 2).Sample("b", {"g@x"});
  builder.Thread(3, 3).Sample("c", {"f@x"});
  ReportOptions options;
  options.sort = {SortKey::kTid};
  const auto rows = [&](const Filter& filter) {
    options.filter = filter;
    return Rows(builder, options);
  };
  EXPECT_EQ(rows({.pids = {1}}), "    33.33%        1:a      \n    33.33%        2:b      \n\n\n");
  EXPECT_EQ(rows({.tids = {2, 7}}), "    33.33%        2:b      \n\n\n");
  EXPECT_EQ(rows({.comms = {"c", "b"}}),
            "    33.33%        2:b      \n    33.33%        3:c      \n\n\n");
  EXPECT_EQ(rows({.comms = {"c"}, .symbols = {"f"}}), "    33.33%        3:c      \n\n\n");
  EXPECT_EQ(rows({.symbols = {"nothing"}}), "\n\n");
}

TEST(ReportTest, MaxStackKeepsTheEndAtTheTop) {
  HandmadeProfile builder;
  builder.Sample("app", {"a@x", "b@x", "c@x", "d@x"});
  ReportOptions options;
  options.max_stack = 2;
  options.percent_limit = 100;
  EXPECT_EQ(Rows(builder, options),
            "   100.00%   100.00%  app      x              [.] d\n"
            "            |\n"
            "            ---a\n"
            "               b\n"
            "\n"
            "   100.00%     0.00%  app      x              [.] a\n"
            "            |\n"
            "            ---a\n"
            "               b\n"
            "\n"
            "   100.00%     0.00%  app      x              [.] b\n"
            "            |\n"
            "            ---b\n"
            "\n"
            "\n\n");
  options.children = false;
  EXPECT_EQ(Rows(builder, options),
            "   100.00%  app      x              [.] d\n"
            "            |\n"
            "            ---d\n"
            "               c\n"
            "\n"
            "\n\n");
  options.children = true;
  options.call_graph.order = ChainOrder::kCallee;
  EXPECT_EQ(Rows(builder, options).find("[.] b"), std::string::npos);
}

TEST(ReportTest, WithoutCallChainsThereIsNothingToAccumulate) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app"});
  ReportOptions options;
  options.children = true;
  EXPECT_EQ(Rows(builder, options), "   100.00%  app      app            [.] main\n\n\n");
}

TEST(ReportTest, CommsAreNotCutAndControlCharactersDoNotReachTheTerminal) {
  HandmadeProfile builder;
  builder.Sample("a\n\x1b[31m(x)", {"main@app"}).Sample("a much longer name", {"f\n@app"}, 2);
  EXPECT_EQ(Rows(builder),
            "    66.67%  a much longer name  app            [.] f?\n"
            "    33.33%  a??[31m(x)          app            [.] main\n"
            "\n\n");
}

TEST(ReportTest, HugeNamesAreShownInFull) {
  HandmadeProfile builder;
  const std::string huge(100'000, 'x');
  builder.Sample("app", {"main@app", huge + "@app"});
  const std::string text = Rows(builder);
  EXPECT_NE(text.find("[.] " + huge + "\n"), std::string::npos);
  EXPECT_NE(text.find("               " + huge + "\n"), std::string::npos);
}

TEST(ReportTest, AChainThatIsCutIsARowWithTheReason) {
  HandmadeProfile builder;
  builder.Sample("app", {"[cut: stack too short]", "deep@app"});
  EXPECT_NE(Rows(builder).find("[.] [cut: stack too short]"), std::string::npos);
}

TEST(ReportTest, LossesAreNamedWhenThereAreAny) {
  HandmadeProfile builder;
  profile::Losses& losses = builder.profile().losses;
  losses.lost_records = 7;
  losses.lost_events = 3;
  losses.unknown_records = 4;
  losses.lost_samples = 5;
  losses.throttled = 2;
  losses.warnings = {"cut at 4096"};
  EXPECT_EQ(FormatReport(builder.profile(), {}),
            "#\n"
            "# Total Lost Samples: 5\n"
            "#\n"
            "# Losses: 7 records lost in 3 gaps, 5 samples lost, 2 times throttled, 4 records of "
            "unknown types\n"
            "# Warning: cut at 4096\n"
            "#\n");
}

TEST(ReportTest, OneLossIsSingular) {
  HandmadeProfile builder;
  profile::Losses& losses = builder.profile().losses;
  losses.lost_records = 1;
  losses.lost_events = 1;
  losses.throttled = 1;
  EXPECT_EQ(
      FormatReport(builder.profile(), {}),
      "#\n# Total Lost Samples: 0\n#\n# Losses: 1 record lost in 1 gap, 1 time throttled\n#\n");
}

TEST(ReportTest, CountsAreAbbreviatedByTheThousand) {
  EXPECT_EQ(AbbreviatedCount(0), "0 ");
  EXPECT_EQ(AbbreviatedCount(999), "999 ");
  EXPECT_EQ(AbbreviatedCount(1999), "1K");
  EXPECT_EQ(AbbreviatedCount(12'345'678), "12M");
  EXPECT_EQ(AbbreviatedCount(5'000'000'000'000), "5000G");
}

// Returns the headings and rows of a report with these fields.
std::string Table(HandmadeProfile& builder, std::string_view fields, ReportOptions options = {}) {
  options.fields = *ParseFields(fields);
  options.sort = KeysOf(options.fields.fields);
  options.call_graph.type = CallGraphType::kNone;
  const std::string text = FormatReport(builder.profile(), options);
  return text.substr(text.find("#\n# ", text.find("# Event count")) + 2);
}

HandmadeProfile InKernelAndOutside() {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "copy@[kernel.kallsyms]"}, 1, 10);
  builder.Sample("app", {"main@app"}, 3, 10);
  return builder;
}

TEST(ReportTest, FieldsAreTheColumnsInTheirOrder) {
  HandmadeProfile builder = InKernelAndOutside();
  EXPECT_EQ(Table(builder, "sym,overhead,overhead_children,sample,period"),
            "# Symbol    Overhead  Children       Samples        Period\n"
            "# ........  ........  ........  ............  ............\n"
            "#\n"
            "  [k] copy    25.00%    25.00%             1            10\n"
            "  [.] main    75.00%   100.00%             3            30\n"
            "\n\n");
  EXPECT_EQ(Table(builder, "overhead_us,overhead_sys,comm"),
            "#      usr       sys  Command\n"
            "# ........  ........  .......\n"
            "#\n"
            "    75.00%    25.00%  app    \n"
            "\n\n");
}

TEST(ReportTest, WhatCalleesWeighIsNotKnownWhereItIsNotCounted) {
  HandmadeProfile builder = InKernelAndOutside();
  EXPECT_EQ(Table(builder, "overhead_children,sym", {.children = false}),
            "# Children  Symbol  \n"
            "# ........  ........\n"
            "#\n"
            "       N/A  [k] copy\n"
            "       N/A  [.] main\n"
            "\n\n");
}

TEST(ReportTest, AThreadThatIsGoneHasNoNumber) {
  HandmadeProfile builder;
  builder.Thread(UINT32_MAX, UINT32_MAX).Sample("", {"main@app"});
  EXPECT_EQ(Table(builder, "pid,tgid"),
            "#     Pid:Command     Tgid:Command\n"
            "# ...............  ...............\n"
            "#\n"
            "       -1:              -1:       \n"
            "\n\n");
}

TEST(ReportTest, TheEventsOfAGroupHaveNumbersOfTheirOwnInEachColumn) {
  HandmadeProfile builder;
  builder.Sample("app", {"copy@[kernel.kallsyms]"}, 1, 10);
  builder.Sample("app", {"main@app"}, 1, 30);
  builder.Event("faults").Sample("app", {"main@app"}, 2, 1);
  ReportOptions options{.groups = {{"", {EventId{0}, EventId{1}}}}};
  EXPECT_EQ(Table(builder, "period,overhead_sys,comm", options),
            "#                   Period               sys  Command\n"
            "# ........................  ................  .......\n"
            "#\n"
            "            40           2    25.00%   0.00%  app    \n"
            "\n\n");
}

TEST(ReportTest, ASeparatorStandsBetweenColumnsAndNotInThem) {
  HandmadeProfile builder;
  builder.Sample("a,b", {"f(int, int)@app"}, 3).Sample("sh", {"g@app"});
  EXPECT_EQ(Table(builder, "overhead,sample,comm,sym", {.separator = ","}),
            "# Overhead,     Samples,Command,Symbol         \n"
            " 75.00% , 3          ,a.b    ,[.] f(int. int)\n"
            " 25.00% , 1          ,sh     ,[.] g\n"
            "\n\n");
}

TEST(ReportTest, WidthsThatAreGivenCutNamesAndPadNumbers) {
  HandmadeProfile builder;
  builder.Sample("worker", {"parse@application"}, 3).Sample("sh", {"g@sh"});
  EXPECT_EQ(Table(builder, "overhead,sample,comm,dso,sym", {.widths = {12, 3, 4, 0, 6}}),
            "#     Overhead       Samples  Comm  Shared Object  Symbol\n"
            "# ............  ............  ....  .............  ......\n"
            "#\n"
            "        75.00%        3       work  application    [.] pa\n"
            "        25.00%        1       sh    sh             [.] g\n"
            "\n\n");
}

TEST(ReportTest, TheOnlyKeyIsShownThoughAFilterMakesItSuperfluous) {
  HandmadeProfile builder;
  builder.Sample("app", {"f@app"});
  EXPECT_EQ(Rows(builder, {.sort = {SortKey::kComm}, .filter = {.comms = {"app"}}}),
            "   100.00%  app    \n\n\n");
}

TEST(ReportTest, AFilterOfAnInlinedFunctionLeavesTheColumnWithTheNamesOfItsRows) {
  ReportOptions options{.sort = {SortKey::kDso, SortKey::kSymbol}, .children = false};
  options.call_graph.type = CallGraphType::kNone;
  options.filter.symbols = {"mix"};
  HandmadeProfile inlined;
  inlined.Sample("app", {"mix<f@app"}).Sample("app", {"g@app"}, 2).Sample("app", {"mix@app"});
  EXPECT_EQ(Rows(inlined, options),
            "    25.00%  app            [.] f\n"
            "    25.00%  app            [.] mix\n"
            "\n\n");
  EXPECT_EQ(FormatReport(inlined.profile(), options).find("# symbol"), std::string::npos);
  HandmadeProfile called;
  called.Sample("app", {"g@app"}).Sample("app", {"mix@app"});
  EXPECT_EQ(Rows(called, options), "    50.00%  app          \n\n\n");
  EXPECT_NE(FormatReport(called.profile(), options).find("# symbol: mix\n"), std::string::npos);
}

TEST(ReportTest, RowsOfOtherSymbolsAreLeftOut) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "parse_line@app"}, 3).Sample("app", {"main@app"});
  EXPECT_EQ(Rows(builder, {.call_graph = {.type = CallGraphType::kNone}, .symbol_part = "se_l"}),
            "    75.00%    75.00%  app      app            [.] parse_line\n"
            "\n\n");
}

TEST(ReportTest, TellsApartByColumnsOfTheProfilesRows) {
  HandmadeProfile builder;
  builder.Sample("app", {"f@app"}, 2).Sample("app", {"f@app"}).Sample("app", {"f@app"});
  profile::Profile& profile = builder.profile();
  profile.quanta = {.begins = {1'500'000'000, 1'000'000'000}};
  profile.column(profile::Dimension::kTime) = {0, 1, 1};
  const auto web = static_cast<uint32_t>(profile.strings.Intern("/web"));
  profile.column(profile::Dimension::kCgroup) = {web, 0, web};
  profile.column(profile::Dimension::kParent) = {0, web, web};
  profile.column(profile::Dimension::kSocket) = {1, 1, profile::kNoCpu};
  EXPECT_EQ(Rows(builder, {.sort = {SortKey::kTime, SortKey::kCgroup}}),
            "    50.00%  1.500000      /web  \n"
            "    25.00%  1.000000      /web  \n"
            "    25.00%  1.000000      N/A   \n"
            "\n\n");
  EXPECT_EQ(Rows(builder, {.sort = {SortKey::kSocket, SortKey::kParent}}),
            "    50.00%     001  [other]      \n"
            "    25.00%    -001  /web         \n"
            "    25.00%     001  /web         \n"
            "\n\n");
}

TEST(ReportTest, SamplesOfOtherSocketsAndWithoutAParentCountInTheTotalAlone) {
  HandmadeProfile builder;
  builder.Sample("app", {"f@app"}, 2).Sample("app", {"g@app"}).Sample("app", {"h@app"});
  profile::Profile& profile = builder.profile();
  profile.column(profile::Dimension::kSocket) = {0, 1, 1};
  profile.column(profile::Dimension::kParent) = {1, 1, 0};
  EXPECT_EQ(Rows(builder, {.column_filter = {.socket = 1, .only_with_parent = true}}),
            "    25.00%  app      app            [.] g\n"
            "\n\n");
}

TEST(ReportTest, AHierarchyHasALevelForEachSortKey) {
  HandmadeProfile builder;
  builder.Sample("worker", {"main@app", "read@libc.so.6"}, 1).Sample("worker", {"main@app"}, 2);
  builder.Sample("sh", {"main@sh"});
  ReportOptions options{.sort = {SortKey::kComm, SortKey::kSymbol},
                        .call_graph = {.type = CallGraphType::kNone},
                        .hierarchy = true};
  const std::string text = FormatReport(builder.profile(), options);
  EXPECT_EQ(text.substr(text.find("# ", text.find("approx"))),
            "#    Children  Overhead  Command / Symbol\n"
            "# .....................  ................\n"
            "#\n"
            "    75.00%    75.00%     worker \n"
            "       75.00%    50.00%     [.] main\n"
            "       25.00%    25.00%     [.] read\n"
            "    25.00%    25.00%     sh     \n"
            "       25.00%    25.00%     [.] main\n"
            "\n\n");
}

TEST(ReportTest, AHierarchySaysWhereAllThatIsInARowIsTooLight) {
  HandmadeProfile builder;
  builder.Sample("app", {"f@app"}).Sample("app", {"g@app"});
  EXPECT_EQ(Rows(builder, {.sort = {SortKey::kComm, SortKey::kSymbol},
                           .percent_limit = 60,
                           .hierarchy = true,
                           .separator = ";"}),
            " 100.00%;app    \n"
            "            no entry >= 60.00%\n"
            "\n\n");
}

// Gives a profile of one stack a sample at each frame, so that its graph has a branch at each
// frame.
void SampleEachFrame(profile::Profile& profile) {
  const profile::Row row = profile.rows[0];
  profile.rows = {};
  for (uint32_t i = 0; i < profile.stacks.size(); ++i) {
    profile.rows.push_back(row);
    profile.rows[i].stack = profile::StackId{i};
    profile.rows[i].self = profile.stacks[i].frame;
  }
}

std::vector<std::string> Recursion(size_t depth) {
  return std::vector(depth, std::string("f@app"));
}

TEST(ReportTest, ACallGraphMayBeAsDeepAsAChainIsLong) {
  constexpr size_t kDepth = 8'000;
  HandmadeProfile builder;
  builder.Sample("app", Recursion(kDepth));
  SampleEachFrame(builder.profile());
  const ReportOptions options = {.sort = {SortKey::kComm},
                                 .children = false,
                                 .call_graph = {.type = CallGraphType::kFolded,
                                                .threshold = 0,
                                                .order = ChainOrder::kCaller,
                                                .print_limit = 1},
                                 .max_stack = kDepth};
  const std::string rows = Rows(builder, options);
  EXPECT_EQ(rows.substr(rows.find("0.01%"), 11), "0.01% f;f;f") << rows.substr(0, 100);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), 'f'), kDepth);
}

TEST(ReportTest, TheTextOfADeepGraphComesInPieces) {
  constexpr size_t kDepth = 500, kLargestPiece = 100'000;
  HandmadeProfile builder;
  builder.Sample("app", Recursion(kDepth));
  SampleEachFrame(builder.profile());
  const ReportOptions options = {.sort = {SortKey::kComm},
                                 .children = false,
                                 .call_graph = {.type = CallGraphType::kGraph, .threshold = 0},
                                 .max_stack = kDepth};
  size_t largest = 0, whole = 0;
  WriteReport(builder.profile(), options, [&](std::string_view piece) {
    largest = std::max(largest, piece.size());
    whole += piece.size();
  });
  EXPECT_LT(largest, kLargestPiece);
  EXPECT_GT(whole, 10 * kLargestPiece);
}

}  // namespace
}  // namespace profiler::report
