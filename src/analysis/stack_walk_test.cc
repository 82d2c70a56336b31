#include "src/analysis/stack_walk.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::analysis {
namespace {

using profile::HandmadeProfile;
using profile::Profile;
using profile::Row;
using profile::StackId;

// A visitor that records its calls.
class Diary {
 public:
  explicit Diary(const Profile& profile) : profile_(profile) {}

  void Prefetch(profile::FrameId) {}
  uint32_t Enter(profile::FrameId frame) {
    const profile::Line& line = profile_.LinesOf(profile_[frame]).back();
    text_ += ' ' + std::string(profile_.text(profile_[line.symbol].name));
    return ++depth_;
  }
  void Back(uint32_t functions) {
    depth_ = functions;
    text_ += " <" + std::to_string(depth_);
  }
  const std::string& text() const { return text_; }

 private:
  const Profile& profile_;
  std::string text_;
  uint32_t depth_ = 0;
};

std::string WalkOf(const Profile& profile, StackWalk::Keep keep = StackWalk::Keep::kAll,
                   uint32_t max_stack = 0) {
  StackWalk walk(profile, keep, max_stack);
  Diary diary(profile);
  for (const Row& row : profile.rows) walk.To(row.stack, diary);
  walk.End(diary);
  return diary.text();
}

TEST(StackWalkTest, WhatNeighboursShareIsEnteredOnce) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "parse@app", "read@libc"})
      .Sample("app", {"main@app", "write@libc"})
      .Sample("app", {"main@app"})
      .Sample("app", {"start@app"});
  EXPECT_EQ(WalkOf(builder.profile()), " main parse read <1 write <1 <0 start <0");
}

TEST(StackWalkTest, OutOfOrderOnlyMoreIsEntered) {
  HandmadeProfile builder;
  builder.Sample("app", {"main@app", "a@app"})
      .Sample("app", {"main@app", "b@app"})
      .Sample("app", {"main@app", "a@app", "c@app"});
  EXPECT_EQ(WalkOf(builder.profile()), " main a <1 b <1 a c <0");
}

TEST(StackWalkTest, OfADeepStackOneEndIsWalked) {
  HandmadeProfile builder;
  builder.Sample("app", {"a@app", "b@app", "c@app"})
      .Sample("app", {"a@app", "b@app", "d@app"})
      .Sample("app", {"a@app", "e@app"});
  const Profile& profile = builder.profile();
  EXPECT_EQ(WalkOf(profile, StackWalk::Keep::kOutermost, 2), " a b <1 e <0");
  EXPECT_EQ(WalkOf(profile, StackWalk::Keep::kInnermost, 2), " b c <0 b d <0 a e <0");
  EXPECT_EQ(WalkOf(profile, StackWalk::Keep::kOutermost, 0), " a <0");
}

std::vector<uint32_t> Numbers(const Profile& profile) {
  const HugeVector<uint32_t> numbers = DepthFirst(profile.stacks);
  return {numbers.begin(), numbers.end()};
}

TEST(StackWalkTest, StacksThatStandDepthFirstNeedNoNumbers) {
  HandmadeProfile builder;
  builder.Sample("app", {"a@app", "b@app", "c@app"})
      .Sample("app", {"a@app", "d@app"})
      .Sample("app", {"e@app"});
  EXPECT_EQ(Numbers(builder.profile()), std::vector<uint32_t>());
  EXPECT_EQ(Numbers(Profile()), std::vector<uint32_t>());
}

TEST(StackWalkTest, OthersAreNumberedWithEachTreeInOnePiece) {
  HandmadeProfile builder;
  builder
      .Sample("app", {"a@app", "b@app"})            // stacks 0 and 1
      .Sample("app", {"e@app"})                     // 2
      .Sample("app", {"a@app", "d@app"})            // 3
      .Sample("app", {"a@app", "b@app", "c@app"});  // 4
  EXPECT_EQ(Numbers(builder.profile()), (std::vector<uint32_t>{0, 1, 4, 3, 2}));
}

}  // namespace
}  // namespace profiler::analysis
