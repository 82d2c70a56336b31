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

  // The frame with this dso, offset, mode and return_address, made when it is new.
  // now.
  FrameId InternFrame(const Frame& frame);

  // The stack that has `frame` on top of `callers`.
  StackId InternStack(StackId callers, FrameId frame);

 private:
  Profile& profile_;
  DenseIndex frames_;
  DenseIndex stacks_;
};

}  // namespace profiler::profile
