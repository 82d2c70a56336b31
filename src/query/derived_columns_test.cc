#include "src/query/derived_columns.h"

#include <array>
#include <string>

#include "gtest/gtest.h"
#include "src/report/testing/profile_builder.h"

namespace profiler::query {
namespace {

using profile::Dimension;
using report::ProfileBuilder;

std::string Texts(const profile::Profile& profile, Dimension dimension) {
  std::string text;
  for (const uint32_t value : profile.column(dimension)) {
    text += std::string(profile.text(StringId{value})) + ';';
  }
  return text;
}

TEST(DerivedColumnsTest, EachRunOfDigitsInANameIsOnePlaceholder) {
  ProfileBuilder builder;
  builder.Sample("kworker/10:2", {"f@app"}).Sample("7z", {"f@app"}).Sample("sh", {"f@app"});
  AddCommsWithoutDigits(builder.profile());
  EXPECT_EQ(Texts(builder.profile(), Dimension::kCommNoDigit), "kworker/<N>:<N>;<N>z;sh;");
}

TEST(DerivedColumnsTest, AParentIsTheMatchNearestToTheEndAskedFor) {
  ProfileBuilder builder;
  builder.Sample("app", {"main@app", "parse_a@app", "parse_b@app", "read@app"});
  builder.Sample("app", {"main@app"});
  const auto pattern = NamePattern::Parse("parse");
  AddParents(*pattern, StackEnd::kOutermost, builder.profile());
  EXPECT_EQ(Texts(builder.profile(), Dimension::kParent), "parse_a;;");
  AddParents(*pattern, StackEnd::kInnermost, builder.profile());
  EXPECT_EQ(Texts(builder.profile(), Dimension::kParent), "parse_b;;");
}

TEST(DerivedColumnsTest, ACpuBeyondThoseThatAreKnownIsOfNoSocket) {
  ProfileBuilder builder;
  builder.Cpu(1).Sample("a", {"f@app"}).Cpu(2).Sample("b", {"f@app"});
  AddSockets(std::array<uint32_t, 2>{0, 5}, builder.profile());
  const HugeVector<uint32_t>& sockets = builder.profile().column(Dimension::kSocket);
  ASSERT_EQ(sockets.size(), 2u);
  EXPECT_EQ(sockets[0], 5u);
  EXPECT_EQ(sockets[1], profile::kNoCpu);
}

}  // namespace
}  // namespace profiler::query
