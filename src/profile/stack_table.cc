#include "src/profile/stack_table.h"

namespace profiler::profile {

FrameId StackTable::InternFrame(const FramePlace& place) {
  const FrameKey key(place, ImageOf(place));
  return FrameId(frames_.FindOrInsert(key, key.Hash(), [&] {
    profile_.frames.push_back({.dso = place.dso,
                               .mode = place.mode,
                               .return_address = place.return_address,
                               .unnamed = place.mapped ? Unnamed::kNoSymbol : Unnamed::kNoMapping,
                               .offset = FileOffset{place.offset},
                               .ip = RuntimeAddress{place.ip}});
    return static_cast<uint32_t>(profile_.frames.size() - 1);
  }));
}

StackId StackTable::InternStack(StackId callers, FrameId frame, uint32_t depth) {
  const StackKey key{callers, frame};
  return StackId(stacks_.FindOrInsert(key, key.Hash(), [&] {
    profile_.stacks.push_back({callers, frame, depth});
    return static_cast<uint32_t>(profile_.stacks.size() - 1);
  }));
}

}  // namespace profiler::profile
