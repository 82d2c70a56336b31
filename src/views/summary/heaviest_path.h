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
// Functions of equal name are one function; inlined functions are included. The path ends when no
// callee has half of its caller's weight, or after `most` functions. The first function must have
// half of `whole`. `weights[s]` is the weight of the samples whose stack is s.
//
// Time: linear in the number of stacks, plus, for each function of the path, in the number of
// stacks that contain it. Memory: 16 bytes per stack.
std::vector<PathPart> HeaviestPath(const profile::Profile& profile, HugeVector<double> weights,
                                   double whole, size_t most);

}  // namespace profiler::summary
