#include "src/profile/inlined_calls.h"

#include <string>

#include "gtest/gtest.h"
#include "src/profile/testing/profile_text.h"

namespace profiler::profile {
namespace {

// A profile of at most one stack, whose frames all belong to function f.
class OneStack {
 public:
  OneStack() {
    profile_.symbols.push_back({.name = profile_.strings.Intern("f")});
    profile_.symbols.push_back({.name = profile_.strings.Intern("i")});
    profile_.threads.emplace_back();
    profile_.events.emplace_back();
  }

  // Adds a frame with this number of inlined calls of i.
  OneStack& Call(uint32_t inlined_calls) {
    Frame frame{.unnamed = Unnamed::kNamed,
                .first_line = static_cast<uint32_t>(profile_.lines.size()),
                .line_count = inlined_calls + 1};
    for (uint32_t i = 0; i < inlined_calls; ++i) {
      profile_.lines.push_back({.symbol = SymbolId{1}, .inlined = true});
    }
    profile_.lines.push_back({.symbol = SymbolId{0}});
    const auto id = FrameId{static_cast<uint32_t>(profile_.frames.size())};
    profile_.frames.push_back(frame);
    const auto depth = static_cast<uint32_t>(profile_.stacks.size());
    profile_.stacks.push_back(
        {.parent = depth == 0 ? kNoStack : StackId{depth - 1}, .frame = id, .depth = depth + 1});
    return *this;
  }
  OneStack& Sample(uint64_t count = 1) {
    const auto leaf = StackId{static_cast<uint32_t>(profile_.stacks.size() - 1)};
    profile_.rows.push_back({.self = profile_[leaf].frame, .stack = leaf, .count = count});
    return *this;
  }

  // Returns the inlined calls of each frame from the root on, and the profile's warnings.
  std::string Bounded() {
    BoundInlinedCalls(profile_);
    std::string text;
    for (const StackNode& stack : profile_.stacks) {
      const auto lines = profile_.LinesOf(profile_[stack.frame]);
      EXPECT_EQ(profile_.text(profile_[lines.back().symbol].name), "f");
      text += std::to_string(lines.size() - 1) + " ";
    }
    for (const std::string& warning : profile_.losses.warnings) text += "\n" + warning;
    return text;
  }
  const Profile& profile() const { return profile_; }

 private:
  Profile profile_;
};

constexpr char kTwoSamples[] =
    "\ninlined calls are left out of the call chains of 2 samples, which have more of them than 4 "
    "a frame and 512 in all";

TEST(InlinedCallsTest, OrdinaryStacksKeepAllOfThem) {
  EXPECT_EQ(OneStack().Call(0).Call(8).Call(70).Call(434).Sample().Bounded(), "0 8 70 434 ");
}

TEST(InlinedCallsTest, WhatIsLeftOfAFrameWithTooManyIsTheFunctionThatHasItsCode) {
  EXPECT_EQ(OneStack().Call(300).Call(207).Call(6).Call(5).Sample(2).Bounded(),
            std::string("300 207 0 5 ") + kTwoSamples);
}

TEST(InlinedCallsTest, ASampleKeepsTheNamesOfTheCodeThatItInterrupted) {
  OneStack stack;
  stack.Call(511).Call(511).Sample().Bounded();
  const profile::Frame& self = stack.profile()[stack.profile().rows[0].self];
  EXPECT_EQ(stack.profile().LinesOf(self).size(), 512);
}

TEST(InlinedCallsTest, ADeepStackHasFourForEachFrame) {
  OneStack stack;
  constexpr uint64_t kFrames = 3000;
  for (uint64_t i = 0; i < kFrames; ++i) stack.Call(511);
  stack.Sample().Bounded();
  uint64_t calls = 0;
  for (const StackNode& node : stack.profile().stacks) {
    calls += stack.profile()[node.frame].line_count - 1;
    ASSERT_LE(calls, MostInlinedCalls(node.depth));
  }
  EXPECT_GT(calls + 511, MostInlinedCalls(kFrames));
}

}  // namespace
}  // namespace profiler::profile
