// Interns frames and stacks into a profile: equal ones get one id.
//
// Private to this package.

#pragma once

#include <cstdint>

#include "src/profile/dense_index.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// Not thread-safe. The profile must outlive it and its frames and stacks be made here alone.
class StackTable {
 public:
  explicit StackTable(Profile& profile) : profile_(profile) {}

  // Has InternFrame's memory brought near.
  void PrefetchFrame(const Frame& frame) const { frames_.Prefetch(FrameKey(frame).Hash()); }

  // The frame with this dso, offset, mode and return_address, made when it is new.
  FrameId InternFrame(const Frame& frame);

  // The stack that has `frame` on top of `callers`.
  StackId InternStack(StackId callers, FrameId frame);

 private:
  // 12 bytes, so that a slot of the index is 16.
  struct FrameKey {
    uint32_t offset_low = 0, offset_high = 0;
    uint32_t place = 0;  // dso, mode and return_address

    FrameKey() = default;
    explicit FrameKey(const Frame& frame)
        : offset_low(static_cast<uint32_t>(frame.offset.value)),
          offset_high(static_cast<uint32_t>(frame.offset.value >> 32)),
          place(static_cast<uint32_t>(frame.dso) << 4 | static_cast<uint32_t>(frame.mode) << 1 |
                (frame.return_address ? 1 : 0)) {}
    bool operator==(const FrameKey&) const = default;
    uint64_t Hash() const {
      return Mix(static_cast<uint64_t>(offset_high) << 32 | offset_low, place);
    }
  };
  struct StackKey {
    StackId callers{};
    FrameId frame{};

    bool operator==(const StackKey&) const = default;
    uint64_t Hash() const {
      return Mix(static_cast<uint64_t>(callers), static_cast<uint64_t>(frame));
    }
  };

  Profile& profile_;
  KeyIndex<FrameKey> frames_;
  KeyIndex<StackKey> stacks_;
};

}  // namespace profiler::profile
