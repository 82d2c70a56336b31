// Interns frames and stacks into a profile: equal ones get one id.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/profile/dense_index.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// What makes a frame; see Frame.
struct FramePlace {
  uint64_t offset = 0;
  uint64_t ip = 0;
  DsoId dso{};
  Mode mode = Mode::kUnknown;
  bool return_address = false;
  bool mapped = false;
};

// Not thread-safe. The profile must outlive it and its frames and stacks be made here alone.
class StackTable {
 public:
  // `by_address`: frames at one place of an image are told apart by their runtime addresses, which
  // differ between processes.
  StackTable(Profile& profile, bool by_address) : profile_(profile), by_address_(by_address) {}

  // Have the memory of InternFrame and InternStack brought near.
  void PrefetchFrame(const FramePlace& place) {
    frames_.Prefetch(FrameKey(place, ImageOf(place)).Hash());
  }
  void PrefetchStack(StackId callers, FrameId frame) const {
    stacks_.Prefetch(StackKey{callers, frame}.Hash());
  }

  // The frame with this dso, offset, mode and return_address (and ip), made when it is new.
  FrameId InternFrame(const FramePlace& place);

  // The stack that has `frame` on top of `callers`, as frame number `depth` from the root.
  StackId InternStack(StackId callers, FrameId frame, uint32_t depth);

 private:
  // 12 bytes, so that a slot of the index is 16.
  struct FrameKey {
    uint32_t offset_low = 0, offset_high = 0;
    uint32_t place = 0;  // image, mode and return_address

    FrameKey() = default;
    FrameKey(const FramePlace& at, uint32_t image)
        : offset_low(static_cast<uint32_t>(at.offset)),
          offset_high(static_cast<uint32_t>(at.offset >> 32)),
          place(image << 4 | static_cast<uint32_t>(at.mode) << 1 | (at.return_address ? 1 : 0)) {}
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

  // What stands for a frame's dso in its key; with by_address_, for where the dso was loaded, too.
  uint32_t ImageOf(const FramePlace& place) {
    if (!by_address_) return static_cast<uint32_t>(place.dso);
    const std::pair loaded(static_cast<uint32_t>(place.dso), place.ip - place.offset);
    return loaded_.try_emplace(loaded, static_cast<uint32_t>(loaded_.size())).first->second;
  }

  Profile& profile_;
  const bool by_address_;
  // By dso and the distance from offsets to runtime addresses.
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, uint32_t> loaded_;
  KeyIndex<FrameKey> frames_;
  KeyIndex<StackKey> stacks_;
};

}  // namespace profiler::profile
