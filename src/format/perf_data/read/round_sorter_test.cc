#include "src/format/perf_data/read/round_sorter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::perf_data {
namespace {

// Runs a script: "10 20a | 15 |" adds records (a time, then a letter that distinguishes equal
// times) and ends a round at each bar. A record with a minus sign, "20-", is passed over. Returns
// the visited records: "10 15 | …", with a bar for each EndRound and "end" for Flush.
std::string Sorted(std::string_view script) {
  RoundSorter sorter;
  std::vector<std::string> names;
  names.reserve(script.size());
  std::string visited;
  const auto visit = [&](const RoundSorter::Entry& entry) {
    visited += *reinterpret_cast<const std::string*>(entry.record) + " ";
  };
  size_t at = 0;
  while (at < script.size()) {
    const size_t end = std::min(script.find(' ', at), script.size());
    const std::string_view word = script.substr(at, end - at);
    at = end + 1;
    if (word == "|") {
      sorter.EndRound(visit);
      visited += "| ";
    } else if (!word.empty()) {
      names.emplace_back(word);
      const uint64_t time = std::stoull(names.back());
      const auto* record = reinterpret_cast<const std::byte*>(&names.back());
      if (word.back() == '-') {
        sorter.PassOver(time, record);
      } else {
        sorter.Add(time, record);
      }
    }
  }
  visited += "end ";
  sorter.Flush(visit);
  EXPECT_EQ(sorter.held(), 0u);
  if (!visited.empty()) visited.pop_back();
  return visited;
}

TEST(RoundSorter, HoldsTheFirstRoundBackUntilTheSecondEnds) {
  EXPECT_EQ(Sorted("10 20 |"), "| end 10 20");
  EXPECT_EQ(Sorted("10 20 | 30 |"), "| 10 20 | end 30");
}

TEST(RoundSorter, ReleasesWhatIsNotNewerThanTheRoundBefore) {
  EXPECT_EQ(Sorted("10 20 15 30 | 50 60 25 55 | 90 70 |"),
            "| 10 15 20 25 30 | 50 55 60 | end 70 90");
}

TEST(RoundSorter, KeepsTheOrderOfEqualTimes) {
  EXPECT_EQ(Sorted("10a 20a 10b 20b 5 10c 20c | 20d |"), "| 5 10a 10b 10c 20a 20b 20c 20d | end");
}

TEST(RoundSorter, SortsAFileWithoutRoundsAtItsEnd) {
  EXPECT_EQ(Sorted("30 40 10 20 35 5"), "end 5 10 20 30 35 40");
}

TEST(RoundSorter, AnEmptyRoundReleasesWhatWasHeld) {
  EXPECT_EQ(Sorted("10 | | | 20"), "| 10 | | end 20");
}

TEST(RoundSorter, ARecordOlderThanAllReleasedComesAtTheNextRelease) {
  EXPECT_EQ(Sorted("10 20 | 30 | 1 40 | 50 |"), "| 10 20 | 1 30 | 40 | end 50");
}

TEST(RoundSorter, VisitsTheFirstAndTheLastOfTheEntriesThatItPassesOver) {
  EXPECT_EQ(Sorted("10- 20- 30- 15 | 40 |"), "| 10- 15 30- | end 40");
  EXPECT_EQ(Sorted("10- |"), "| end 10-");
  EXPECT_EQ(Sorted("30- 10- 20-"), "end 10- 30-");
}

TEST(RoundSorter, ReleasesTheOthersAsIfItPassedOverNone) {
  // 30- is the newest time of the first round, so the second one releases 25.
  EXPECT_EQ(Sorted("10 30- | 25 40- 20- 35- | 50 |"), "| 10 20- 25 30- | 35- 40- | end 50");
}

TEST(RoundSorter, HoldsFourOfTheEntriesThatItPassesOver) {
  RoundSorter sorter;
  sorter.Add(100, nullptr);
  sorter.EndRound([](const RoundSorter::Entry&) {});
  const std::byte records[1000] = {};
  for (size_t i = 0; i < std::size(records); ++i) sorter.PassOver(i, &records[i]);
  size_t visited = 0;
  sorter.Flush([&](const RoundSorter::Entry&) { ++visited; });
  EXPECT_EQ(visited, 5u);
}

TEST(RoundSorter, HoldsTwoRoundsAtMost) {
  constexpr size_t kRings = 3, kRecordsOfRing = 100;
  RoundSorter sorter;
  size_t visited = 0, most_held = 0;
  const auto visit = [&visited](const RoundSorter::Entry&) { ++visited; };
  for (size_t round = 0; round < 50; ++round) {
    for (size_t ring = 0; ring < kRings; ++ring) {
      for (size_t i = 0; i < kRecordsOfRing; ++i) {
        sorter.Add(1 + (round * kRecordsOfRing + i) * kRings + ring, nullptr);
      }
    }
    most_held = std::max(most_held, sorter.held());
    sorter.EndRound(visit);
  }
  EXPECT_LE(most_held, 2 * kRings * kRecordsOfRing);
  EXPECT_GE(visited, 48 * kRings * kRecordsOfRing);
}

TEST(RoundSorter, StartsAnewAfterAFlush) {
  RoundSorter sorter;
  std::vector<uint64_t> visited;
  const auto visit = [&](const RoundSorter::Entry& entry) { visited.push_back(entry.time); };
  sorter.Add(100, nullptr);
  sorter.EndRound(visit);
  sorter.Flush(visit);
  sorter.Add(50, nullptr);
  sorter.EndRound(visit);
  EXPECT_EQ(visited, std::vector<uint64_t>({100}));
}

TEST(RoundSorter, SortsAnyMixOfRunsAsAStableSortDoes) {
  std::mt19937_64 random(1);
  for (int turn = 0; turn < 200; ++turn) {
    RoundSorter sorter;
    std::vector<RoundSorter::Entry> expected;
    const size_t count = random() % 400;
    uint64_t time = 0;
    for (size_t i = 0; i < count; ++i) {
      // Mostly ascending, with occasional short or long steps back.
      time = random() % 10 == 0 ? time / (1 + random() % 3) : time + random() % 4;
      const auto* name = reinterpret_cast<const std::byte*>(i + 1);
      expected.push_back({time, name});
      sorter.Add(time, name);
    }
    std::stable_sort(expected.begin(), expected.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
    std::vector<RoundSorter::Entry> visited;
    sorter.Flush([&](const RoundSorter::Entry& entry) { visited.push_back(entry); });
    ASSERT_EQ(visited.size(), expected.size());
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(visited[i].record, expected[i].record) << "turn " << turn << ", place " << i;
    }
  }
}

}  // namespace
}  // namespace profiler::perf_data
