// Walks through stacks depth first. Frames that a stack shares with the former stack are entered
// only once, so a caller that sums over a tree of stacks needs memory only for one path.
//
//   To(main ─ parse ─ read)   Enter main, Enter parse, Enter read
//   To(main ─ write)          Back to 1, Enter write
//   End()                     Back to 0
//
// In any other order the result is the same, but more frames are entered.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::analysis {

// Returns the depth-first number of each stack, indexed by StackId; empty if all numbers equal the
// ids. Linear in the stacks.
HugeVector<uint32_t> DepthFirst(std::span<const profile::StackNode> stacks);

// Sorts rows of the profile by their stacks. `numbers` is the result of DepthFirst.
void SortDepthFirst(const profile::Profile& profile, const HugeVector<uint32_t>& numbers,
                    std::span<uint32_t> rows);

class StackWalk {
 public:
  // The frames that are kept of a stack with more than `max_stack` frames: those at the outermost
  // end, those at the innermost end, or all.
  enum class Keep : uint8_t { kOutermost, kInnermost, kAll };

  // The profile must outlive the walk.
  StackWalk(const profile::Profile& profile, Keep keep, uint32_t max_stack)
      : profile_(profile),
        keep_(keep),
        max_stack_(keep == Keep::kAll ? std::numeric_limits<uint32_t>::max()
                                      : std::max<uint32_t>(max_stack, 1)) {}

  // Prefetches the stack; call it a few stacks before To.
  void Prefetch(profile::StackId stack) const { __builtin_prefetch(&profile_[stack]); }

  // Goes to a stack. Calls visitor.Enter(frame) for each new frame, outermost first, and
  // visitor.Prefetch(frame) some time before. Enter returns the number of functions on the path.
  // visitor.Back(n) returns to a path of n functions.
  void To(profile::StackId stack, auto& visitor) {
    uint32_t depth = profile_[stack].depth;
    const bool cut = depth > max_stack_;
    if (cut && keep_ == Keep::kInnermost) return ToInnermost(stack, visitor);
    for (; depth > max_stack_; --depth) stack = profile_[stack].parent;
    if (depth > path_.size()) path_.resize(depth);
    // Goes from the leaf up to the first frame that is already on the path, overwriting deeper
    // levels.
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
    // kNoStack if the stack's outermost frames were cut; then the frame is not shared.
    profile::StackId stack = profile::kNoStack;
    profile::FrameId frame{};
    uint32_t functions = 0;  // number of functions on the path up to this frame
  };

  void ToInnermost(profile::StackId stack, auto& visitor) {
    if (max_stack_ > path_.size()) path_.resize(max_stack_);
    for (uint32_t depth = max_stack_; depth > 0; --depth) {
      path_[depth - 1] = {.frame = profile_[stack].frame};
      stack = profile_[stack].parent;
    }
    Go(0, max_stack_, visitor);
  }

  // Returns to `common` frames, then enters frames up to `depth`.
  void Go(uint32_t common, uint32_t depth, auto& visitor) {
    if (common < depth_) visitor.Back(common == 0 ? 0 : path_[common - 1].functions);
    for (uint32_t i = common; i < depth; ++i) path_[i].functions = visitor.Enter(path_[i].frame);
    depth_ = depth;
  }

  const profile::Profile& profile_;
  const Keep keep_;
  const uint32_t max_stack_;
  std::vector<Level> path_;  // outermost first; only the first depth_ are valid
  uint32_t depth_ = 0;
};

}  // namespace profiler::analysis
