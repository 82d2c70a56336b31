// Which samples of a stream stand for those that are missing from it.
//
// What ran while samples were missing is best told by the samples next to the gap. Half of what is
// missing counts for the samples in front of it and half for those behind it, on each side for all
// that are no farther from the gap than half its own length, and for some at least:
//
//   stream    | | | | | | | | | | | | ? ? ? ? ? ? ? ? | | | | | | | | | | | |
//   weight    1 1 1 1 1 1 1 1 2 2 2 2                 2 2 2 2 1 1 1 1 1 1 1 1
//
// So the share of something is right where losses cluster while it runs, as long as it runs for
// longer than a gap lasts. What lies farther away does not count more for the gap: it may be of
// another phase of the program. tools/estimate_experiment measures it beside other ways.
//
// Pure functions; thread-safe.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace profiler::profile {

// Samples that are missing one after another.
struct Gap {
  size_t before = 0;   // the number of the sample behind it, or how many there are
  double samples = 0;  // not negative
};

struct StandIn {
  float weight = 1;  // for how many samples it stands, itself one of them
  float gap = 0;     // how many samples the gaps have that it stands for, on average; 0: for no gap
};

// No more are believed to be missing in one piece: counts come from bytes that nobody vouches for.
inline constexpr double kMostInGap = 1e9;

// By sample of a stream of so many, with gaps by place. The weights add up to the samples and all
// that are missing, unless there is no sample. n log n.
std::vector<StandIn> StandInsFor(size_t samples, std::span<const Gap> gaps);

}  // namespace profiler::profile
