// Goes through stacks depth first. Frames that a stack shares with the stack before it are entered
// once, so a caller who adds something up over a tree of stacks needs memory for one path of it.
//
//   To(main ─ parse ─ read)   Enter main, Enter parse, Enter read
//   To(main ─ write)          Back to 1, Enter write
//   End()                     Back to 0
//
// In another order than depth first the result is as right, but more frames are entered.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::query {

// The number of each stack in depth-first order, by its id. Empty where the two are the same.
// Linear in the stacks.
HugeVector<uint32_t> DepthFirst(std::span<const profile::StackNode> stacks);

// Puts rows of the profile in the order of their stacks, of which `numbers` is what DepthFirst
// gave.
void SortDepthFirst(const profile::Profile& profile, const HugeVector<uint32_t>& numbers,
                    std::span<uint32_t> rows);

class StackWalk {
 public:
  // Which end of a stack that has more than `max_stack` frames is walked.
  enum class Keep : uint8_t { kOutermost, kInnermost, kAll };

  // The profile must outlive the walk.
  StackWalk(const profile::Profile& profile, Keep keep, uint32_t max_stack)
      : profile_(profile),
        keep_(keep),
        max_stack_(keep == Keep::kAll ? std::numeric_limits<uint32_t>::max()
                                      : std::max<uint32_t>(max_stack, 1)) {}

  // To be called a few stacks before To.
  void Prefetch(profile::StackId stack) const { __builtin_prefetch(&profile_[stack]); }

  // visitor.Prefetch(frame) some time before visitor.Enter(frame), outermost first, which returns
  // how many functions are on the path now; visitor.Back(n): to where so many were.
  void To(profile::StackId stack, auto& visitor) {
    uint32_t depth = profile_[stack].depth;
    const bool cut = depth > max_stack_;
    if (cut && keep_ == Keep::kInnermost) return ToInnermost(stack, visitor);
    for (; depth > max_stack_; --depth) stack = profile_[stack].parent;
    if (depth > path_.size()) path_.resize(depth);
    // From the leaf up to what is on the path; the levels below are not needed any more.
    uint32_t common = depth;
    for (; common > 0; --common) {
      Level& level = path_[common - 1];
      if (level.stack == stack && common <= depth_) break;
      const profile::StackNode& at = profile_[stack];
      level = {.stack = stack, .frame = at.frame};
      visitor.Prefetch(at.frame);
      stack = at.parent;
    }
    Go(common, depth, visitor);
  }
  void End(auto& visitor) { Go(0, 0, visitor); }

 private:
  // A frame on the path.
  struct Level {
    // kNoStack: of one without its outermost frames, which none shares.
    profile::StackId stack = profile::kNoStack;
    profile::FrameId frame{};
    uint32_t functions = 0;  // on the path up to here
  };

  void ToInnermost(profile::StackId stack, auto& visitor) {
    if (max_stack_ > path_.size()) path_.resize(max_stack_);
    for (uint32_t depth = max_stack_; depth > 0; --depth) {
      path_[depth - 1] = {.frame = profile_[stack].frame};
      stack = profile_[stack].parent;
    }
    Go(0, max_stack_, visitor);
  }

  // Back to `common` frames, then on to `depth`.
  void Go(uint32_t common, uint32_t depth, auto& visitor) {
    if (common < depth_) visitor.Back(common == 0 ? 0 : path_[common - 1].functions);
    for (uint32_t i = common; i < depth; ++i) path_[i].functions = visitor.Enter(path_[i].frame);
    depth_ = depth;
  }

  const profile::Profile& profile_;
  const Keep keep_;
  const uint32_t max_stack_;
  std::vector<Level> path_;  // outermost first; the first depth_ of them
  uint32_t depth_ = 0;
};

}  // namespace profiler::query
