// Where most of a recording's time goes, from the outermost function down.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/base/huge_vector.h"
#include "src/profile/profile.h"

namespace profiler::summary {

// A function of a path, and the weight of all samples whose stack begins with the path as far as
// here.
struct PathPart {
  std::string function;      // "[libc.so.6]" of code without a name
  profile::FrameId frame{};  // one that has it
  double weight = 0;
};

// The path that begins at the roots of the profile's stacks and goes on with the heaviest callee,
// functions told apart by name, as long as that has at least half of what is above it, `whole` at
// first, and for `most` functions at most. An inlined function is one here. `weights` has that of
// each stack's own samples, by StackId. Time: the stacks, and for each function of the path those
// that go through it; memory: 16 bytes a stack.
std::vector<PathPart> HeaviestPath(const profile::Profile& profile, HugeVector<double> weights,
                                   double whole, size_t most);

}  // namespace profiler::summary
