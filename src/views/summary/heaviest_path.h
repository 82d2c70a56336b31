// Finds the path of calls on which most of a recording's time is spent, from the outermost function
// down.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/base/huge_vector.h"
#include "src/profile/profile.h"

namespace profiler::summary {

// A function of a path, and the weight of all samples whose stacks begin with the path up to it.
struct PathPart {
  std::string function;      // "[libc.so.6]" if the code has no name
  profile::FrameId frame{};  // a frame with this function
  double weight = 0;
};

// Returns the path that starts at the roots of the stacks and continues with the heaviest callee.
// Functions are told apart by name; an inlined function counts as one. The path ends when no callee
// has half of its caller's weight (of `whole`, at first), or after `most` functions. `weights` is
// the weight of each stack's own samples, by StackId.
//
// Time: linear in the stacks, and for each function of the path in the stacks that contain it.
// Memory: 16 bytes per stack.
std::vector<PathPart> HeaviestPath(const profile::Profile& profile, HugeVector<double> weights,
                                   double whole, size_t most);

}  // namespace profiler::summary
