#include "src/profile/sums_order.h"

#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::profile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kNone = SampleSums::kNone;

uint32_t NumberOf(auto id) { return static_cast<uint32_t>(id); }

// The offsets of its frames, outermost first.
std::string StackText(const SampleSums& sums, StackId id) {
  std::string text;
  while (id != kNoStack) {
    const StackNode& stack = sums.stacks[NumberOf(id)];
    text = std::to_string(sums.frames[NumberOf(stack.frame)].offset) + (text.empty() ? "" : ";") +
           text;
    id = stack.parent;
  }
  return text;
}

std::vector<std::string> StackTexts(const SampleSums& sums) {
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < sums.stacks.size(); ++i) texts.push_back(StackText(sums, StackId{i}));
  return texts;
}

std::vector<std::string> FrameTexts(const SampleSums& sums) {
  std::vector<std::string> texts;
  for (const SampleSums::Frame& frame : sums.frames) {
    texts.push_back((frame.image == kNone ? "-" : std::to_string(frame.image)) + "+" +
                    std::to_string(frame.offset) + (frame.return_address ? " called" : ""));
  }
  return texts;
}

std::vector<std::string> RowTexts(const SampleSums& sums) {
  std::vector<std::string> texts;
  for (const Row& row : sums.rows) {
    std::ostringstream text;
    text << NumberOf(row.event) << "/" << NumberOf(row.thread) << " " << StackText(sums, row.stack)
         << " at " << sums.frames[NumberOf(row.self)].offset << ": " << row.count;
    texts.push_back(text.str());
  }
  return texts;
}

TEST(SumsOrderTest, FramesStandByImageAndOffset) {
  SampleSums sums;
  sums.frames.push_back({.image = 1, .offset = 7});
  sums.frames.push_back({.image = 0, .return_address = true, .offset = 9});
  sums.frames.push_back({.image = kNone, .offset = 8});
  sums.frames.push_back({.image = 0, .offset = 9});
  sums.frames.push_back({.image = 0, .offset = 3});
  PutInOrder(sums);
  EXPECT_THAT(FrameTexts(sums), ElementsAre("-+8", "0+3", "0+9", "0+9 called", "1+7"));
}

TEST(SumsOrderTest, StacksStandDepthFirst) {
  SampleSums sums;
  for (const uint64_t offset : {40, 10, 30, 20}) sums.frames.push_back({.offset = offset});
  sums.stacks.push_back({kNoStack, FrameId{0}});    // 40
  sums.stacks.push_back({kNoStack, FrameId{1}});    // 10
  sums.stacks.push_back({StackId{0}, FrameId{2}});  // 40;30
  sums.stacks.push_back({StackId{1}, FrameId{0}});  // 10;40
  sums.stacks.push_back({StackId{0}, FrameId{1}});  // 40;10
  sums.stacks.push_back({StackId{1}, FrameId{3}});  // 10;20
  sums.stacks.push_back({StackId{5}, FrameId{0}});  // 10;20;40
  PutInOrder(sums);
  EXPECT_THAT(StackTexts(sums),
              ElementsAre("10", "10;20", "10;20;40", "10;40", "40", "40;10", "40;30"));
}

TEST(SumsOrderTest, RowsStandByEventThreadAndStackAndKeepTheirs) {
  SampleSums sums;
  for (const uint64_t offset : {40, 10, 30}) sums.frames.push_back({.offset = offset});
  sums.stacks.push_back({kNoStack, FrameId{0}});
  sums.stacks.push_back({StackId{0}, FrameId{2}});
  sums.stacks.push_back({kNoStack, FrameId{1}});
  sums.rows.push_back({EventId{1}, ThreadId{0}, FrameId{1}, StackId{2}, 1});
  sums.rows.push_back({EventId{0}, ThreadId{1}, FrameId{2}, StackId{1}, 2});
  sums.rows.push_back({EventId{0}, ThreadId{1}, FrameId{1}, StackId{2}, 3});
  sums.rows.push_back({EventId{0}, ThreadId{1}, FrameId{0}, StackId{1}, 4});
  sums.rows.push_back({EventId{0}, ThreadId{0}, FrameId{2}, StackId{1}, 5});
  PutInOrder(sums);
  EXPECT_THAT(RowTexts(sums),
              ElementsAre("0/0 40;30 at 30: 5", "0/1 10 at 10: 3", "0/1 40;30 at 30: 2",
                          "0/1 40;30 at 40: 4", "1/0 10 at 10: 1"));
}

TEST(SumsOrderTest, NothingIsInOrder) {
  SampleSums sums;
  PutInOrder(sums);
  EXPECT_THAT(StackTexts(sums), IsEmpty());
}

// So deep that no call may follow another.
TEST(SumsOrderTest, DeepStacksStayWhole) {
  SampleSums sums;
  sums.frames.push_back({.offset = 1});
  for (uint32_t i = 0; i < SampleSums::kMostFrames; ++i) {
    sums.stacks.push_back({StackId{i - 1}, FrameId{0}});
  }
  PutInOrder(sums);
  for (uint32_t i = 1; i < sums.stacks.size(); ++i)
    ASSERT_EQ(sums.stacks[i].parent, StackId{i - 1});
}

}  // namespace
}  // namespace profiler::profile
