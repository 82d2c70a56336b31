// Interns frames and stacks in a profile: equal ones get the same id.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/profile/dense_index.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// The frames of a profile. Not thread-safe. The profile must outlive the table, and only the table
// may add frames to it.
class FrameTable {
 public:
  // `by_address`: frames at one place of an image are distinct if their runtime addresses differ,
  // as they do between processes.
  FrameTable(Profile& profile, bool by_address) : profile_(profile), by_address_(by_address) {}

  // Prefetches the memory for Intern.
  void Prefetch(const Frame& frame) { frames_.Prefetch(FrameKey(frame, ImageOf(frame)).Hash()); }

  // Returns the frame with this image, place, mode and return_address (and ip if by_address); adds
  // it if it is new.
  FrameId Intern(const Frame& frame);

 private:
  // The key of a frame. It has 12 bytes, so that a slot of the index has 16.
  struct FrameKey {
    uint32_t place_low = 0, place_high = 0;
    uint32_t rest = 0;  // image, mode and return_address

    FrameKey() = default;
    FrameKey(const Frame& frame, uint32_t image)
        : place_low(static_cast<uint32_t>(frame.place.value)),
          place_high(static_cast<uint32_t>(frame.place.value >> 32)),
          rest(image << 4 | static_cast<uint32_t>(frame.mode) << 1 |
               (frame.return_address ? 1 : 0)) {}
    bool operator==(const FrameKey&) const = default;
    uint64_t Hash() const { return Mix(static_cast<uint64_t>(place_high) << 32 | place_low, rest); }
  };

  // Returns the number that stands for a frame's image in its key. With by_address_, the number
  // also depends on the address at which the image was loaded.
  uint32_t ImageOf(const Frame& frame) {
    if (!by_address_) return static_cast<uint32_t>(frame.image);
    const std::pair loaded(static_cast<uint32_t>(frame.image), frame.ip.value - frame.place.value);
    return loaded_.try_emplace(loaded, static_cast<uint32_t>(loaded_.size())).first->second;
  }

  Profile& profile_;
  const bool by_address_;
  // Results of ImageOf. Keyed by image and by the distance from places to runtime addresses.
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, uint32_t> loaded_;
  KeyIndex<FrameKey> frames_;
};

// The stacks of a profile. Not thread-safe. The profile must outlive the table, and only the table
// may add stacks to it.
class StackTable {
 public:
  explicit StackTable(Profile& profile) : profile_(profile) {}

  // Prefetches the memory for Intern.
  void Prefetch(StackId callers, FrameId frame) const {
    stacks_.Prefetch(StackKey{callers, frame}.Hash());
  }

  // Returns the stack that consists of `callers` and the leaf `frame`. `depth` is its number of
  // frames.
  StackId Intern(StackId callers, FrameId frame, uint32_t depth);

 private:
  struct StackKey {
    StackId callers{};
    FrameId frame{};

    bool operator==(const StackKey&) const = default;
    uint64_t Hash() const {
      return Mix(static_cast<uint64_t>(callers), static_cast<uint64_t>(frame));
    }
  };

  Profile& profile_;
  KeyIndex<StackKey> stacks_;
};

}  // namespace profiler::profile
