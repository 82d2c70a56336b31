#include "src/analysis/stack_edits.h"

#include <cstdint>
#include <vector>

#include "src/analysis/filter.h"

namespace profiler::analysis {

using profile::kNoStack;
using profile::Profile;
using profile::Row;
using profile::StackId;
using profile::StackNode;

namespace {

size_t NumberOf(StackId stack) { return static_cast<uint32_t>(stack); }

bool IsResolved(const Profile& profile, profile::FrameId frame) {
  return profile[frame].unnamed == profile::Unnamed::kNamed;
}

}  // namespace

// A caller's id is lower than its callees', so one pass from the first stack suffices.
void ForgetCallees(const NamePattern& pattern, Profile& profile) {
  const std::vector<bool> matches = FramesOf(pattern, profile);
  std::vector<StackId> outermost;  // [n]: outermost match on stack n; kNoStack: none
  outermost.reserve(profile.stacks.size());
  for (uint32_t i = 0; i < profile.stacks.size(); ++i) {
    const StackNode& stack = profile.stacks[i];
    StackId found = stack.parent == kNoStack ? kNoStack : outermost[NumberOf(stack.parent)];
    if (found == kNoStack && matches[static_cast<uint32_t>(stack.frame)]) found = StackId{i};
    outermost.push_back(found);
  }
  for (Row& row : profile.rows) {
    const StackId found = outermost[NumberOf(row.stack)];
    if (found == kNoStack) continue;
    row.stack = found;
    row.self = profile[found].frame;
  }
}

void ForgetCallers(const NamePattern& pattern, Profile& profile) {
  const std::vector<bool> matches = FramesOf(pattern, profile);
  for (StackNode& stack : profile.stacks) {
    if (matches[static_cast<uint32_t>(stack.frame)]) stack.parent = kNoStack;
    stack.depth = stack.parent == kNoStack ? 1 : profile[stack.parent].depth + 1;
  }
}

void HideUnresolved(Profile& profile) {
  std::vector<StackId> resolved;  // [n]: innermost resolved node on stack n
  resolved.reserve(profile.stacks.size());
  for (uint32_t i = 0; i < profile.stacks.size(); ++i) {
    StackNode& stack = profile.stacks[i];
    if (stack.parent != kNoStack) stack.parent = resolved[NumberOf(stack.parent)];
    stack.depth = stack.parent == kNoStack ? 1 : profile[stack.parent].depth + 1;
    resolved.push_back(IsResolved(profile, stack.frame) ? StackId{i} : stack.parent);
  }
  for (Row& row : profile.rows) {
    const StackId found = resolved[NumberOf(row.stack)];
    if (found != kNoStack) row.stack = found;
  }
  KeepRows([&](const Row& row) { return IsResolved(profile, row.self); }, profile);
}

}  // namespace profiler::analysis
