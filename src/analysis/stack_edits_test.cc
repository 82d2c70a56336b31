#include "src/analysis/stack_edits.h"

#include <string>

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::analysis {
namespace {

using profile::HandmadeProfile;
using profile::kNoStack;
using profile::Profile;
using profile::StackId;

// Returns each row's stack and count, "main parse read 2\n", with "!" if the interrupted frame is
// not the leaf or a depth is wrong.
std::string Rows(const Profile& profile) {
  std::string text;
  for (const profile::Row& row : profile.rows) {
    std::string chain;
    uint32_t depth = 0;
    for (StackId id = row.stack; id != kNoStack; id = profile[id].parent) {
      const profile::Frame& frame = profile[profile[id].frame];
      const auto lines = profile.LinesOf(frame);
      const auto name = lines.empty() ? "?" : profile.text(profile[lines.back().symbol].name);
      chain.insert(0, std::string(name) + ' ');
      ++depth;
    }
    if (profile[row.stack].depth != depth || profile[row.stack].frame != row.self) chain += "! ";
    text += chain + std::to_string(row.count) + '\n';
  }
  return text;
}

HandmadeProfile SomeStacks() {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "parse@app", "read@app", "parse@app", "copy@app"}, 1);
  builder.Sample("app", {"main@app", "parse@app"}, 2);
  builder.Sample("app", {"main@app", "write@app"}, 3);
  // Test profiles do not say why code has no name.
  for (profile::Frame& frame : builder.profile().frames) {
    frame.unnamed = frame.line_count == 0 ? profile::Unnamed::kNoSymbol : profile::Unnamed::kNamed;
  }
  return builder;
}

NamePattern Pattern(std::string_view text) { return *NamePattern::Parse(text); }

TEST(StackEditsTest, CalleesAreForgottenFromTheOutermostMatchOn) {
  HandmadeProfile builder = SomeStacks();
  ForgetCallees(Pattern("^par"), builder.profile());
  EXPECT_EQ(Rows(builder.profile()), "main parse 1\nmain parse 2\nmain write 3\n");
}

TEST(StackEditsTest, CallersAreForgottenUpToTheInnermostMatch) {
  HandmadeProfile builder = SomeStacks();
  ForgetCallers(Pattern("parse|write"), builder.profile());
  EXPECT_EQ(Rows(builder.profile()), "parse copy 1\nparse 2\nwrite 3\n");
}

TEST(StackEditsTest, NothingChangesWhereNothingMatches) {
  HandmadeProfile builder = SomeStacks();
  const std::string before = Rows(builder.profile());
  ForgetCallees(Pattern("none"), builder.profile());
  ForgetCallers(Pattern("none"), builder.profile());
  HideUnresolved(builder.profile());
  EXPECT_EQ(Rows(builder.profile()), before);
}

TEST(StackEditsTest, CodeWithoutASymbolIsLeftOutOfStacksAndSamples) {
  HandmadeProfile builder;
  builder.Sample("app", {"0x10@app", "main@app", "0x20@app", "read@app"}, 1);
  builder.Sample("app", {"main@app", "0x30@app"}, 2);
  builder.Sample("app", {"0x40@app"}, 3);
  for (profile::Frame& frame : builder.profile().frames) {
    frame.unnamed = frame.line_count == 0 ? profile::Unnamed::kNoSymbol : profile::Unnamed::kNamed;
  }
  HideUnresolved(builder.profile());
  EXPECT_EQ(Rows(builder.profile()), "main read 1\n");
  EXPECT_EQ(builder.profile().column(profile::Dimension::kCpu).size(), 1u);
}

TEST(NamePatternTest, AnExpressionIsFoundAnywhereInAName) {
  EXPECT_TRUE(Pattern("ars").Matches("parse"));
  EXPECT_FALSE(Pattern("^ars").Matches("parse"));
  EXPECT_TRUE(Pattern("read|write").Matches("__write"));
}

TEST(NamePatternTest, WhatIsNoExpressionIsQuoted) {
  const auto message = std::string(NamePattern::Parse("a(b").status().message());
  EXPECT_NE(message.find("'a(b' is not a regular expression: "), std::string::npos) << message;
}

}  // namespace
}  // namespace profiler::analysis
