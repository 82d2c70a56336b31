#include "src/fleet/comparison/compare_hosts.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/views/diff/diff_text.h"

namespace profiler::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Measured = diff::Run;  // in tests, Run is testing::Test::Run

constexpr uint64_t kMillisecond = 1'000'000;

// Returns a host with some hundred samples in each of eight functions, and `parse` samples in
// parse. Counts vary a little from host to host.
Measured Host(std::string name, uint64_t parse, uint64_t number) {
  Measured run{.name = std::move(name), .event = "cpu-clock"};
  const auto add = [&run](std::string function, uint64_t count) {
    run.names.push_back(std::move(function));
    run.measured.self.push_back({.samples = {.count = count}, .period = count * kMillisecond});
    run.measured.samples += count;
    run.measured.period += count * kMillisecond;
  };
  add("parse", parse + number * 7 % 11);
  for (uint64_t i = 0; i < 8; ++i) {
    add("f" + std::to_string(i), 900 + 20 * i + (number * 5 + i * 7) % 23);
  }
  for (analysis::Measured& of : run.measured.self) of.samples.samples = run.measured.samples;
  run.measured.total = run.measured.self;
  // main calls all of these functions.
  run.names.emplace_back("main");
  run.measured.self.push_back({.samples = {.samples = run.measured.samples}});
  run.measured.total.push_back(
      {.samples = {.samples = run.measured.samples, .count = run.measured.samples},
       .period = run.measured.period});
  return run;
}

std::vector<Measured> Hosts(const std::string& prefix, uint64_t count, uint64_t parse,
                            uint64_t first = 0) {
  std::vector<Measured> hosts;
  for (uint64_t i = 0; i < count; ++i) {
    hosts.push_back(Host(prefix + std::to_string(i), parse, first + i));
  }
  return hosts;
}

std::vector<std::string> Significant(const HostDiff& compared) {
  std::vector<std::string> names;
  for (const diff::Row& row : compared.diff.rows) {
    if (row.significant) names.push_back(row.name);
  }
  return names;
}

TEST(CompareHosts, ShowsWhatGrewAndNotWhatHasLessOfTheWholeForThat) {
  const HostDiff compared = CompareHosts(Hosts("a", 6, 1000), Hosts("b", 6, 3000, 6), {});
  EXPECT_THAT(Significant(compared), ElementsAre("parse"));
  EXPECT_EQ(compared.pairs, 0u);
  // parse has 3000 of 10770 samples after the change. But the change is relative to the whole
  // before it (8770 samples), so the other functions keep their shares.
  const diff::Row& parse = compared.diff.rows[0];
  EXPECT_NEAR(parse.share.before, 1000. / 8770, 0.003);
  EXPECT_NEAR(parse.share.after, 3000. / 8770, 0.006);
  for (const diff::Row& row : compared.diff.rows) {
    if (row.name != "parse") {
      EXPECT_NEAR(row.share.difference(), 0, 0.003) << row.name;
    }
  }
}

TEST(CompareHosts, ShowsNothingBetweenEqualGroups) {
  EXPECT_THAT(Significant(CompareHosts(Hosts("a", 6, 1000), Hosts("b", 5, 1000, 6), {})),
              ElementsAre());
}

TEST(CompareHosts, WithCalleesItsCallersGrewToo) {
  const HostDiff compared =
      CompareHosts(Hosts("a", 6, 1000), Hosts("b", 6, 3000, 6), {.weight = diff::Weight::kTotal});
  EXPECT_THAT(Significant(compared), testing::UnorderedElementsAre("parse", "main"));
}

TEST(CompareHosts, OneHostAmongManyIsNoChange) {
  std::vector<Measured> after = Hosts("b", 8, 1000, 8);
  after[3] = Host("b3", 4000, 3);
  EXPECT_THAT(Significant(CompareHosts(Hosts("a", 8, 1000), after, {})), ElementsAre());
}

TEST(CompareHosts, AThirdOfThemIs) {
  std::vector<Measured> after = Hosts("b", 9, 1000, 9);
  for (size_t i = 0; i < 3; ++i) after[i] = Host("b" + std::to_string(i), 2000, i);
  EXPECT_THAT(Significant(CompareHosts(Hosts("a", 9, 1000), after, {})), ElementsAre("parse"));
}

TEST(CompareHosts, TheSameMachinesAreComparedEachWithItself) {
  // The hosts differ far more than the change.
  std::vector<Measured> before, after;
  for (uint64_t i = 0; i < 6; ++i) {
    const std::string name = "host" + std::to_string(i);
    before.push_back(Host(name, 400 + 300 * i, i));
    after.push_back(Host(name, 600 + 300 * i, i + 3));
  }
  const HostDiff paired = CompareHosts(before, after, {});
  EXPECT_EQ(paired.pairs, 6u);
  EXPECT_EQ(paired.left_out, 0u);
  EXPECT_THAT(Significant(paired), ElementsAre("parse"));
  for (Measured& run : after) run.name += "-new";
  EXPECT_THAT(Significant(CompareHosts(before, after, {})), ElementsAre());
}

TEST(CompareHosts, HostsOfOneGroupAreLeftOutWhereTheOthersArePairs) {
  std::vector<Measured> before = Hosts("h", 5, 1000), after = Hosts("h", 4, 1000, 7);
  after.push_back(Host("other", 9000, 3));
  const HostDiff compared = CompareHosts(before, after, {});
  EXPECT_EQ(compared.pairs, 4u);
  EXPECT_EQ(compared.left_out, 2u);
  EXPECT_THAT(Significant(compared), ElementsAre());
}

TEST(CompareHosts, RareFunctionsAndHostsWithoutSamplesAreLeftOut) {
  std::vector<Measured> after = Hosts("b", 4, 1000, 4);
  after[0].names.emplace_back("rare");
  after[0].measured.self.push_back({.samples = {.count = 9}, .period = 9 * kMillisecond});
  after[0].measured.total.push_back({.samples = {.count = 9}, .period = 9 * kMillisecond});
  after.push_back({.name = "idle", .event = "cpu-clock"});
  const HostDiff compared = CompareHosts(Hosts("a", 4, 1000), after, {});
  for (const diff::Row& row : compared.diff.rows) EXPECT_NE(row.name, "rare");
  EXPECT_THAT(Significant(compared), ElementsAre());
}

TEST(CompareHosts, OneHostEachIsHardlyTold) {
  EXPECT_THAT(Significant(CompareHosts(Hosts("a", 1, 1000), Hosts("b", 1, 1100, 1), {})),
              ElementsAre());
}

TEST(FormatDiff, OfHostsSaysHowManyThereAreInsteadOfNamingThem) {
  const std::vector<Measured> before = Hosts("a", 6, 1000), after = Hosts("b", 6, 3000, 6);
  const HostDiff compared = CompareHosts(before, after, {});
  const std::string text =
      FormatDiff(compared.diff, before, after,
                 {.hosts = diff::HostGroups{.before = "release=1.2", .after = "release=1.3"}});
  EXPECT_THAT(text, HasSubstr("# before: release=1.2: 6 hosts, "));
  EXPECT_THAT(text, HasSubstr("# after:  release=1.3: 6 hosts, "));
  EXPECT_THAT(text, HasSubstr("Before, each"));
  EXPECT_THAT(text, Not(HasSubstr("a0")));
  EXPECT_THAT(FormatDiff(compared.diff, before, after,
                         {.hosts = diff::HostGroups{.pairs = 6, .left_out = 2}}),
              HasSubstr("# 6 hosts are in both, each compared with itself; 2 others are left out"));
}

}  // namespace
}  // namespace profiler::fleet
