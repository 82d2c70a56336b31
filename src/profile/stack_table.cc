#include "src/profile/stack_table.h"

namespace profiler::profile {

FrameId StackTable::InternFrame(const Frame& frame) {
  const uint64_t code = static_cast<uint64_t>(frame.dso) << 16 |
                        static_cast<uint64_t>(frame.mode) << 1 | (frame.return_address ? 1 : 0);
  return FrameId(frames_.FindOrInsert(
      Mix(frame.offset.value, code),
      [&](uint32_t id) {
        const Frame& known = profile_.frames[id];
        return known.offset == frame.offset && known.dso == frame.dso && known.mode == frame.mode &&
               known.return_address == frame.return_address;
      },
      [&] {
        profile_.frames.push_back(frame);
        return static_cast<uint32_t>(profile_.frames.size() - 1);
      }));
}

StackId StackTable::InternStack(StackId callers, FrameId frame) {
  return StackId(stacks_.FindOrInsert(
      Mix(static_cast<uint64_t>(callers), static_cast<uint64_t>(frame)),
      [&](uint32_t id) {
        const StackNode& known = profile_.stacks[id];
        return known.parent == callers && known.frame == frame;
      },
      [&] {
        const uint32_t depth = callers == kNoStack ? 1 : profile_[callers].depth + 1;
        profile_.stacks.push_back({callers, frame, depth});
        return static_cast<uint32_t>(profile_.stacks.size() - 1);
      }));
}

}  // namespace profiler::profile
