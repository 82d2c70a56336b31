#include "src/views/script/shown_frames.h"

#include <string>

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::script {
namespace {

using profile::HandmadeProfile;

// Returns the functions of the frames that all samples of a profile show with these fields.
std::string Shown(HandmadeProfile& builder, std::string_view fields, ScriptOptions options = {},
                  const profile::SampleDetails& details = {}) {
  const profile::Profile& profile = builder.profile();
  ShownFrames shown(profile, options);
  for (size_t row = 0; row < profile.rows.size(); ++row) {
    shown.Add(builder.sample(row), details, ParseScriptFields(fields)->fields);
  }
  std::string text;
  for (const profile::FrameId frame : shown.Take()) {
    text += profile.text(profile[profile.LinesOf(profile[frame]).back().symbol].name);
    text += ' ';
  }
  EXPECT_TRUE(shown.Take().empty());
  return text;
}

HandmadeProfile WithChains() {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "a@app", "b@app"});
  builder.Sample("app", {"main@app", "a@app", "c@app"});
  return builder;
}

TEST(ShownFramesTest, AChainShowsItsFramesEachOnce) {
  HandmadeProfile builder = WithChains();
  EXPECT_EQ(Shown(builder, "ip,sym"), "b a main c ");
  EXPECT_EQ(Shown(builder, "ip,dso"), "b a main c ");
  EXPECT_EQ(Shown(builder, "ip,sym", {.max_stack = 2}), "b a c a ");
}

TEST(ShownFramesTest, WithoutChainsASampleShowsItsOwnFrame) {
  HandmadeProfile builder = WithChains();
  EXPECT_EQ(Shown(builder, "ip,sym", {.callchains = false}), "b c ");
}

TEST(ShownFramesTest, FieldsWithoutNamesShowNoFrame) {
  HandmadeProfile builder = WithChains();
  EXPECT_EQ(Shown(builder, "comm,tid,brstack"), "");
  EXPECT_EQ(Shown(builder, "ip"), "");
  EXPECT_EQ(Shown(builder, "comm,sym"), "");
}

TEST(ShownFramesTest, AFilterNeedsTheFrameOfEachSample) {
  HandmadeProfile builder = WithChains();
  ScriptOptions options;
  options.filter.tids = {7};
  EXPECT_EQ(Shown(builder, "comm", options), "b c ");
}

TEST(ShownFramesTest, AddressesAndBranchesThatWereLookedUpAreShown) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "a@app", "b@app"});
  const profile::StackId leaf = builder.profile().rows[0].stack;
  const profile::FrameId a = builder.profile()[builder.profile()[leaf].parent].frame;
  const profile::SampleDetails details{.addr_frame = a,
                                       .branches = {{.from_frame = a}, {.to_frame = a}}};
  EXPECT_EQ(Shown(builder, "comm", {}, details), "a a a ");
}

}  // namespace
}  // namespace profiler::script
