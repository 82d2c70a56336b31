#include "src/analysis/keyed_rows.h"

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::analysis {
namespace {

using profile::EventId;
using profile::HandmadeProfile;
using profile::Profile;

// Returns one line per row: "self | all".
std::string Keys(const Profile& profile, KeyBy by) {
  const KeyedRows keys(profile, EventId{0}, by);
  std::string text;
  for (const profile::Row& row : profile.rows) {
    if (row.event != EventId{0}) continue;
    text += keys.name(keys.SelfOf(row)) + " |";
    for (const KeyId key : keys.AllOf(row)) text += ' ' + keys.name(key);
    text += '\n';
  }
  return text;
}

TEST(KeyedRows, CountASampleForItsFunctionAndOnceForEachThatCalledIt) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "walk@app", "walk@app", "read@libc"});
  builder.Sample("app", {"main@app"});
  EXPECT_EQ(Keys(builder.profile(), KeyBy::kFunction),
            "read | read main walk\n"
            "main | main\n");
}

TEST(KeyedRows, AnInlinedFunctionIsAFunction) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "next<read@app"});
  EXPECT_EQ(Keys(builder.profile(), KeyBy::kFunction), "next | read next main\n");
}

TEST(KeyedRows, AFunctionOfOneNameIsOneWhereverItLies) {
  HandmadeProfile builder;
  builder.Sample("app", {"read@one"}).Sample("app", {"read+0x8@two"});
  EXPECT_EQ(KeyedRows(builder.profile(), EventId{0}, KeyBy::kFunction).size(), 1u);
}

TEST(KeyedRows, CodeWithoutANameIsItsImages) {
  HandmadeProfile builder;
  builder.Sample("app", {"0x1234@app"}).Sample("app", {"0x1234"});
  EXPECT_EQ(Keys(builder.profile(), KeyBy::kFunction),
            "[app] | [app]\n"
            "[unknown] | [unknown]\n");
}

TEST(KeyedRows, APathIsAllOfItsBeginnings) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "next<read@app"});
  builder.Sample("app", {"read@app"});
  EXPECT_EQ(Keys(builder.profile(), KeyBy::kPath),
            "main;read;next | main main;read main;read;next\n"
            "read | read\n");
}

TEST(KeyedRows, ALineIsKnownByItsFileAndElseItsFunctionIs) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "read@app"});
  Profile& profile = builder.profile();
  profile.lines[1].file = profile.strings.Intern("/src/read.cc");
  profile.lines[1].line = 12;
  EXPECT_EQ(Keys(profile, KeyBy::kLine), "read.cc:12 | read.cc:12 main\n");
}

TEST(KeyedRows, RowsOfOtherEventsHaveNone) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app"});
  builder.Event("faults").Sample("app", {"fault@app"});
  EXPECT_EQ(KeyedRows(builder.profile(), EventId{0}, KeyBy::kFunction).size(), 1u);
}

}  // namespace
}  // namespace profiler::analysis
