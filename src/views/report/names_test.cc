#include "src/views/report/names.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::report {
namespace {

using profile::EventId;
using profile::HandmadeProfile;
using profile::Unnamed;

// Sets the reason why the frames of an image have no symbol. Frames that have a name now count as
// named by a function's start.
void SetReason(profile::Profile& profile, std::string_view image, Unnamed reason) {
  for (profile::Frame& frame : profile.frames) {
    if (profile.text(profile[frame.image].name) == image) frame.unnamed = reason;
  }
}

std::string TextOf(const profile::Profile& profile) {
  return FormatUnresolved(profile, [](std::string_view path, std::span<const std::byte> build_id) {
    return "get the symbols of " + std::string(path) + (build_id.empty() ? "" : " by build-id");
  });
}

TEST(NamesTest, NothingIsSaidWhereAllHaveSymbols) {
  HandmadeProfile b;
  b.Sample("app", {"main@app", "f@libc.so"});
  EXPECT_EQ(NamesLine(b.profile(), EventId{0}), "");
  EXPECT_EQ(TextOf(b.profile()), "# Event 'cpu-clock'\n# Every address has a symbol.\n");
}

TEST(NamesTest, SharesAreThoseOfInterruptedInstructions) {
  HandmadeProfile b;
  b.Sample("app", {"0x10@gone.so", "f@app"}, 5).Sample("app", {"x.so+0x40@x.so"}, 3);
  b.Sample("app", {"f@app", "0x10@gone.so"}, 2);
  SetReason(b.profile(), "x.so", Unnamed::kNoSymbol);
  EXPECT_EQ(NamesLine(b.profile(), EventId{0}),
            "# Names: 50.00% by symbol, 30.00% by function start only, 20.00% without (see "
            "--unresolved)\n");
}

TEST(NamesTest, ImagesWithoutNamesComeWithReasonAndRemedy) {
  HandmadeProfile b;
  b.Sample("app", {"main@app", "f@x.so"}, 3).Sample("app", {"main@app", "g@x.so"}, 4);
  b.Sample("app", {"0x99@gone.so", "f@app"}, 2).Sample("app", {"0x7f00"});
  SetReason(b.profile(), "x.so", Unnamed::kNoSymbol);
  SetReason(b.profile(), "gone.so", Unnamed::kNoImageFile);
  SetReason(b.profile(), "[unknown]", Unnamed::kNoMapping);
  b.profile().images[1].build_id = {std::byte{0xab}, std::byte{0x01}};
  EXPECT_EQ(
      TextOf(b.profile()),
      "# Event 'cpu-clock'\n"
      "# Names: 20.00% by symbol, 70.00% by function start only, 10.00% without (see "
      "--unresolved)\n"
      "#\n"
      "# Overhead     Samples   Addresses  Image: why\n"
      "# ........  ..........  ..........  ..........\n"
      "#\n"
      "    70.00%           7           2  /usr/lib/x.so: no symbol covers them\n"
      "                                      → get the symbols of /usr/lib/x.so by build-id "
      "(build-id ab01)\n"
      "    40.00%                            g\n"
      "    30.00%                            f\n"
      "    10.00%           1           1  [unknown]: nothing is known to be mapped there\n"
      "                                      → callers: record with --call-graph dwarf, frame "
      "pointers are missing; else code that was mapped and gone before it was seen\n"
      "    10.00%                            0x7f00\n"
      "     0.00%           0           1  /usr/lib/gone.so: the file is not here\n"
      "                                      → run profiler report on a machine that has the file\n"
      "     0.00%                            0x99\n");
}

TEST(NamesTest, OnlyTheHeaviestAddressesOfAnImageAreShown) {
  HandmadeProfile b;
  for (int i = 0; i < 12; ++i) {
    b.Sample("app", {"0x" + std::to_string(100 + i) + "@x.so"}, static_cast<uint64_t>(i) + 1);
  }
  const std::string text = TextOf(b.profile());
  EXPECT_NE(text.find("0x111\n"), std::string::npos);
  EXPECT_NE(text.find("0x102\n"), std::string::npos);
  EXPECT_EQ(text.find("0x101\n"), std::string::npos);
  EXPECT_NE(text.find("and 2 more\n"), std::string::npos);
}

TEST(NamesTest, ImagesOfOneWeightStandInOneOrderHoweverFramesDo) {
  HandmadeProfile b;
  b.Sample("app", {"0x10@a.so"}).Sample("app", {"0x20@b.so"});
  profile::Profile& profile = b.profile();
  const std::string text = TextOf(profile);
  std::swap(profile.frames[0], profile.frames[1]);
  std::swap(profile.rows[0].self, profile.rows[1].self);
  std::swap(profile.stacks[0].frame, profile.stacks[1].frame);
  EXPECT_EQ(TextOf(profile), text);
  EXPECT_LT(text.find("a.so"), text.find("b.so"));
}

TEST(NamesTest, NamesOfARecordingCannotMakeLines) {
  HandmadeProfile b;
  b.Sample("app", {"0x10@evil\nname"});
  const std::string text = TextOf(b.profile());
  EXPECT_NE(text.find("evil?name"), std::string::npos) << text;
}

TEST(NamesTest, AnEmptyProfileSaysSo) { EXPECT_EQ(TextOf(profile::Profile()), "# No samples.\n"); }

}  // namespace
}  // namespace profiler::report
