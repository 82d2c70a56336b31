// Distinguishes the user's own code from code that every program has: the kernel, the C and C++
// runtime libraries, and the C code of interpreters.

#pragma once

#include <string_view>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::summary {

// A table of a profile's images. Code of an interpreter counts as own code if no other image of the
// event has any. Refers to the profile. Reading is thread-safe.
class OwnCode {
 public:
  // Linear in the images and in the rows.
  OwnCode(const profile::Profile& profile, profile::EventId event);

  // True if the frame belongs to the user's own code.
  bool Has(profile::FrameId frame) const {
    return is_own_[static_cast<uint32_t>(profile_[frame].image)];
  }

 private:
  const profile::Profile& profile_;
  std::vector<bool> is_own_;  // indexed by ImageId
};

// True if the function only starts a program or a thread, and says nothing about the user's code:
// "_start", "runtime.goexit".
bool IsStartCode(std::string_view function);

}  // namespace profiler::summary
