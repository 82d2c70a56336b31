#include "src/format/perf_event/read_values.h"

#include <array>
#include <span>

#include "gtest/gtest.h"

namespace profiler::perf_event {
namespace {

template <size_t N>
U64Array Words(const std::array<uint64_t, N>& words) {
  return U64Array(std::as_bytes(std::span(words)));
}

TEST(ReadValuesTest, OneEventHasItsTimesBetweenValueAndId) {
  const std::array<uint64_t, 5> words = {100, 20, 10, 7, 3};
  const ReadValues values(
      Words(words), kFormatTotalTimeEnabled | kFormatTotalTimeRunning | kFormatId | kFormatLost);
  EXPECT_EQ(values.size(), 1u);
  EXPECT_EQ(values.time_enabled(), 20u);
  EXPECT_EQ(values.time_running(), 10u);
  EXPECT_EQ(values[0], (CounterValue{.value = 100, .id = 7, .lost = 3}));
}

TEST(ReadValuesTest, AGroupHasItsTimesInFrontOfAllValues) {
  const std::array<uint64_t, 6> words = {2, 10, 100, 7, 200, 8};
  const ReadValues values(Words(words), kFormatGroup | kFormatTotalTimeRunning | kFormatId);
  EXPECT_EQ(values.size(), 2u);
  EXPECT_EQ(values.time_enabled(), 0u);
  EXPECT_EQ(values.time_running(), 10u);
  EXPECT_EQ(values[0], (CounterValue{.value = 100, .id = 7}));
  EXPECT_EQ(values[1], (CounterValue{.value = 200, .id = 8}));
}

TEST(ReadValuesTest, AGroupWithLostCountsHasThemBehindEachId) {
  const std::array<uint64_t, 7> words = {2, 100, 7, 1, 200, 8, 2};
  const ReadValues values(Words(words), kFormatGroup | kFormatId | kFormatLost);
  EXPECT_EQ(values[1], (CounterValue{.value = 200, .id = 8, .lost = 2}));
}

TEST(ReadValuesTest, NoWordsAreNoEvents) {
  EXPECT_EQ(ReadValues(U64Array(), kFormatGroup).size(), 0u);
  EXPECT_EQ(ReadValues(U64Array(), kFormatId).size(), 0u);
  EXPECT_EQ(ReadValues(U64Array(), kFormatId)[0], CounterValue{});
}

}  // namespace
}  // namespace profiler::perf_event
