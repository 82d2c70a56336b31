#include "src/analysis/estimate/visits.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace profiler::estimate {
namespace {

// Returns "count/changes/changes at two" of the letter A, for streams in which each sample is a
// letter.
std::string OfA(std::initializer_list<std::string_view> streams) {
  Visits visits('Z' - 'A' + 1);
  for (const std::string_view stream : streams) {
    for (const char letter : stream) {
      const uint32_t key = static_cast<uint32_t>(letter - 'A');
      visits.Add({&key, 1});
    }
    visits.EndStream();
  }
  const ShareSamples a = visits[0];
  return absl::StrCat(a.count, "/", a.changes, "/", a.changes_at_two);
}

// Returns the text of OfA for one stream, but compares all pairs.
std::string ByPairs(std::string_view stream) {
  uint64_t changes = 0, at_two = 0;
  for (size_t i = 1; i < stream.size(); ++i) {
    changes += (stream[i] == 'A') != (stream[i - 1] == 'A') ? 1 : 0;
    if (i > 1) at_two += (stream[i] == 'A') != (stream[i - 2] == 'A') ? 1 : 0;
  }
  return absl::StrCat(std::count(stream.begin(), stream.end(), 'A'), "/", changes, "/", at_two);
}

TEST(Visits, CountsChangesBetweenNeighboursAndAtTwo) {
  for (const std::string_view stream :
       {"A", "B", "AA", "AB", "BA", "BB", "ABA", "BAB", "AAB", "ABAB", "AABBAA", "BBABBB", "BAAAB",
        "ABBABAABBBABAAAABAB", "BABABABABAABBBAABAB"}) {
    EXPECT_EQ(OfA({stream}), ByPairs(stream)) << stream;
  }
}

TEST(Visits, SamplesOfDifferentStreamsAreNoNeighbours) {
  EXPECT_EQ(OfA({"AAAA", "BBBB"}), "4/0/0");
  EXPECT_EQ(OfA({"BA", "AB", "A"}), "3/2/0");
}

TEST(Visits, ASampleCanBeInManySets) {
  Visits visits(3);
  const uint32_t first[] = {0, 1}, second[] = {0, 2};
  visits.Add(first);
  visits.Add(second);
  visits.Add(second);
  visits.EndStream();
  EXPECT_EQ(visits[0].count, 3u);
  EXPECT_EQ(visits[0].changes, 0u);
  EXPECT_EQ(visits[1].changes, 1u);
  EXPECT_EQ(visits[2].changes, 1u);
  EXPECT_EQ(visits[2].changes_at_two, 1u);
  EXPECT_EQ(visits[2].samples, 3u);
}

}  // namespace
}  // namespace profiler::estimate
