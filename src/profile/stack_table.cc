#include "src/profile/stack_table.h"

namespace profiler::profile {

FrameId FrameTable::Intern(const Frame& frame) {
  const FrameKey key(frame, ImageOf(frame));
  return FrameId(frames_.FindOrInsert(key, key.Hash(), [&] {
    profile_.frames.push_back(frame);
    return static_cast<uint32_t>(profile_.frames.size() - 1);
  }));
}

StackId StackTable::Intern(StackId callers, FrameId frame, uint32_t depth) {
  const StackKey key{callers, frame};
  return StackId(stacks_.FindOrInsert(key, key.Hash(), [&] {
    profile_.stacks.push_back({callers, frame, depth});
    return static_cast<uint32_t>(profile_.stacks.size() - 1);
  }));
}

}  // namespace profiler::profile
