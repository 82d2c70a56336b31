#include "src/analysis/derived_columns.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::analysis {
namespace {

using profile::Dimension;
using profile::HandmadeProfile;

std::string Texts(const profile::Profile& profile, Dimension dimension) {
  std::string text;
  for (const uint32_t value : profile.column(dimension)) {
    text += std::string(profile.text(StringId{value})) + ';';
  }
  return text;
}

TEST(DerivedColumnsTest, EachRunOfDigitsInANameIsOnePlaceholder) {
  HandmadeProfile builder;
  builder.Sample("kworker/10:2", {"f@app"}).Sample("7z", {"f@app"}).Sample("sh", {"f@app"});
  AddCommsWithoutDigits(builder.profile());
  EXPECT_EQ(Texts(builder.profile(), Dimension::kCommNoDigit), "kworker/<N>:<N>;<N>z;sh;");
}

TEST(DerivedColumnsTest, AParentIsTheMatchNearestToTheEndAskedFor) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "parse_a@app", "parse_b@app", "read@app"});
  builder.Sample("app", {"main@app"});
  const auto pattern = NamePattern::Parse("parse");
  AddParents(*pattern, StackEnd::kOutermost, builder.profile());
  EXPECT_EQ(Texts(builder.profile(), Dimension::kParent), "parse_a;;");
  AddParents(*pattern, StackEnd::kInnermost, builder.profile());
  EXPECT_EQ(Texts(builder.profile(), Dimension::kParent), "parse_b;;");
}

TEST(DerivedColumnsTest, AccessesAreToldByWhatTheyMetAndCost) {
  HandmadeProfile builder;
  builder.Sample("a", {"f@app"}).Sample("b", {"f@app"});
  profile::Profile& profile = builder.profile();
  profile.accesses = {{.level = profile.strings.Intern("L1 hit"), .weight = 7},
                      {.level = profile.strings.Intern("Local RAM hit"), .weight = 300}};
  profile.column(Dimension::kAccess) = {1, 0};
  AddAccessColumn(Dimension::kMemoryLevel, profile);
  AddAccessColumn(Dimension::kWeight, profile);
  EXPECT_EQ(Texts(profile, Dimension::kMemoryLevel), "Local RAM hit;L1 hit;");
  EXPECT_EQ(Texts(profile, Dimension::kWeight), "300;7;");
}

// Makes a profile with one sample for each of these places.
profile::Profile& WithData(HandmadeProfile& builder, std::vector<profile::DataPlace> data) {
  for (size_t i = 0; i < data.size(); ++i) builder.Sample(std::string(1, 'a' + i), {"f@app"});
  profile::Profile& profile = builder.profile();
  for (uint32_t i = 0; i < data.size(); ++i) profile.column(Dimension::kData).push_back(i);
  profile.data = std::move(data);
  return profile;
}

TEST(DerivedColumnsTest, DataAreToldBySymbolOrAddress) {
  HandmadeProfile builder;
  builder.Sample("x", {"table+0x48@app", "0x7f40@data"});
  const auto frames = static_cast<uint32_t>(builder.profile().frames.size());
  builder.profile().rows.resize(0);
  profile::Profile& profile =
      WithData(builder, {{.address = 0x1048, .frame = profile::FrameId{frames - 2}},
                         {.address = 0x7f40, .frame = profile::FrameId{frames - 1}},
                         {.address = 1, .physical = 0x40, .page_size = 4096}});
  AddAccessColumn(Dimension::kDataSymbol, profile);
  AddAccessColumn(Dimension::kDataDso, profile);
  AddAccessColumn(Dimension::kPhysicalAddress, profile);
  AddAccessColumn(Dimension::kPageSize, profile);
  EXPECT_EQ(Texts(profile, Dimension::kDataSymbol), "table+0x48;0x0000000000007f40;;");
  EXPECT_EQ(Texts(profile, Dimension::kDataDso), "app;data;;");
  EXPECT_EQ(Texts(profile, Dimension::kPhysicalAddress), ";;0x0000000000000040;");
  EXPECT_EQ(Texts(profile, Dimension::kPageSize), "N/A;N/A;4K;");
}

TEST(DerivedColumnsTest, DataOfOneCacheLineHaveOneText) {
  HandmadeProfile builder;
  builder.Sample("x", {"table+0x48@app", "table+0x50@app", "table+0x80@app"});
  const auto first = static_cast<uint32_t>(builder.profile().frames.size()) - 3;
  builder.profile().rows.resize(0);
  profile::Profile& profile =
      WithData(builder, {{.address = 0x1048, .frame = profile::FrameId{first}},
                         {.address = 0x1050, .frame = profile::FrameId{first + 1}},
                         {.address = 0x1080, .frame = profile::FrameId{first + 2}}});
  AddAccessColumn(Dimension::kCacheLine, profile);
  EXPECT_EQ(Texts(profile, Dimension::kCacheLine), "table+0x40;table+0x40;table+0x80;");
}

TEST(DerivedColumnsTest, RecordsOfTracepointsAreSplitIntoTheirFields) {
  HandmadeProfile builder;
  builder.Sample("a", {"f@app"}).Sample("b", {"f@app"}).Sample("c", {"f@app"});
  profile::Profile& profile = builder.profile();
  profile.trace_fields = {profile.strings.Intern("pid"), profile.strings.Intern("state")};
  const auto text = [&](std::string_view parts) {
    return static_cast<uint32_t>(profile.strings.Intern(parts));
  };
  using namespace std::string_view_literals;
  profile.column(Dimension::kTrace) = {text("pid=1\0001\0R\0"sv), text("\0002\0S\0"sv), 0};
  SplitTraces(profile);
  EXPECT_EQ(Texts(profile, Dimension::kTrace), "pid=1;;;");
  EXPECT_EQ(Texts(profile, Dimension::kTraceField), "1;2;;");
  EXPECT_EQ(Texts(profile, Dimension{static_cast<uint8_t>(Dimension::kTraceField) + 1}), "R;S;;");
}

TEST(DerivedColumnsTest, ACpuBeyondThoseThatAreKnownIsOfNoSocket) {
  HandmadeProfile builder;
  builder.Cpu(1).Sample("a", {"f@app"}).Cpu(2).Sample("b", {"f@app"});
  AddSockets(std::array<uint32_t, 2>{0, 5}, builder.profile());
  const HugeVector<uint32_t>& sockets = builder.profile().column(Dimension::kSocket);
  ASSERT_EQ(sockets.size(), 2u);
  EXPECT_EQ(sockets[0], 5u);
  EXPECT_EQ(sockets[1], profile::kNoCpu);
}

}  // namespace
}  // namespace profiler::analysis
