#include "src/profile/profile_order.h"

#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::profile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns the places of a stack's frames, outermost first.
std::string StackText(const Profile& profile, StackId id) {
  std::string text;
  while (id != kNoStack) {
    const StackNode& stack = profile.stacks[NumberOf(id)];
    text = std::to_string(profile.frames[NumberOf(stack.frame)].place.value) +
           (text.empty() ? "" : ";") + text;
    id = stack.parent;
  }
  return text;
}

std::vector<std::string> StackTexts(const Profile& profile) {
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < profile.stacks.size(); ++i)
    texts.push_back(StackText(profile, StackId{i}));
  return texts;
}

std::vector<std::string> FrameTexts(const Profile& profile) {
  std::vector<std::string> texts;
  for (const Frame& frame : profile.frames) {
    texts.push_back(std::to_string(NumberOf(frame.image)) + "+" +
                    std::to_string(frame.place.value) + (frame.return_address ? " called" : ""));
  }
  return texts;
}

std::vector<std::string> RowTexts(const Profile& profile) {
  std::vector<std::string> texts;
  for (const Row& row : profile.rows) {
    std::ostringstream text;
    text << NumberOf(row.event) << "/" << NumberOf(row.thread) << " "
         << StackText(profile, row.stack) << " at "
         << profile.frames[NumberOf(row.self)].place.value << ": " << row.count;
    texts.push_back(text.str());
  }
  return texts;
}

TEST(ProfileOrderTest, FramesStandByImageAndOffset) {
  Profile profile;
  profile.frames.push_back({.place = FileOffset{7}, .image = ImageId{2}});
  profile.frames.push_back({.place = FileOffset{9}, .return_address = true, .image = ImageId{1}});
  profile.frames.push_back({.place = FileOffset{8}});
  profile.frames.push_back({.place = FileOffset{9}, .image = ImageId{1}});
  profile.frames.push_back({.place = FileOffset{3}, .image = ImageId{1}});
  PutInOrder(profile);
  EXPECT_THAT(FrameTexts(profile), ElementsAre("0+8", "1+3", "1+9", "1+9 called", "2+7"));
}

TEST(ProfileOrderTest, StacksStandDepthFirst) {
  Profile profile;
  for (const uint64_t offset : {40, 10, 30, 20})
    profile.frames.push_back({.place = FileOffset{offset}});
  profile.stacks.push_back({kNoStack, FrameId{0}});    // 40
  profile.stacks.push_back({kNoStack, FrameId{1}});    // 10
  profile.stacks.push_back({StackId{0}, FrameId{2}});  // 40;30
  profile.stacks.push_back({StackId{1}, FrameId{0}});  // 10;40
  profile.stacks.push_back({StackId{0}, FrameId{1}});  // 40;10
  profile.stacks.push_back({StackId{1}, FrameId{3}});  // 10;20
  profile.stacks.push_back({StackId{5}, FrameId{0}});  // 10;20;40
  PutInOrder(profile);
  EXPECT_THAT(StackTexts(profile),
              ElementsAre("10", "10;20", "10;20;40", "10;40", "40", "40;10", "40;30"));
}

TEST(ProfileOrderTest, RowsStandByEventThreadAndStackAndKeepTheirs) {
  Profile profile;
  for (const uint64_t offset : {40, 10, 30})
    profile.frames.push_back({.place = FileOffset{offset}});
  profile.threads = {{.comm = profile.strings.Intern("a")}, {.comm = profile.strings.Intern("b")}};
  profile.stacks.push_back({kNoStack, FrameId{0}});
  profile.stacks.push_back({StackId{0}, FrameId{2}});
  profile.stacks.push_back({kNoStack, FrameId{1}});
  profile.rows.push_back({EventId{1}, ThreadId{0}, FrameId{1}, StackId{2}, 1});
  profile.rows.push_back({EventId{0}, ThreadId{1}, FrameId{2}, StackId{1}, 2});
  profile.rows.push_back({EventId{0}, ThreadId{1}, FrameId{1}, StackId{2}, 3});
  profile.rows.push_back({EventId{0}, ThreadId{1}, FrameId{0}, StackId{1}, 4});
  profile.rows.push_back({EventId{0}, ThreadId{0}, FrameId{2}, StackId{1}, 5});
  PutInOrder(profile);
  EXPECT_THAT(RowTexts(profile),
              ElementsAre("0/0 40;30 at 30: 5", "0/1 10 at 10: 3", "0/1 40;30 at 30: 2",
                          "0/1 40;30 at 40: 4", "1/0 10 at 10: 1"));
}

TEST(ProfileOrderTest, NothingIsInOrder) {
  Profile profile;
  PutInOrder(profile);
  EXPECT_THAT(StackTexts(profile), IsEmpty());
}

TEST(ProfileOrderTest, OnlyTablesThatOthersDoNotReferToCanBePutInOrder) {
  EXPECT_TRUE(CanPutInOrder(Profile()));
  Profile with_branches, with_data, with_functions, with_order;
  with_branches.branches.push_back({});
  with_data.data.push_back({});
  with_functions.trace_functions.push_back({});
  with_order.order.push_back({});
  for (const Profile* profile : {&with_branches, &with_data, &with_functions, &with_order}) {
    EXPECT_FALSE(CanPutInOrder(*profile));
  }
}

// Uses a stack that is too deep for recursion.
TEST(ProfileOrderTest, DeepStacksStayWhole) {
  Profile profile;
  profile.frames.push_back({.place = FileOffset{1}});
  for (uint32_t i = 0; i < 1 << 15; ++i) {
    profile.stacks.push_back({StackId{i - 1}, FrameId{0}});
  }
  PutInOrder(profile);
  for (uint32_t i = 1; i < profile.stacks.size(); ++i)
    ASSERT_EQ(profile.stacks[i].parent, StackId{i - 1});
}

}  // namespace
}  // namespace profiler::profile
