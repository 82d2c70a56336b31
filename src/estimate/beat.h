// Loads that run nearly in step with the sampler.
//
// A load that repeats every 1.000 ms, sampled every 1.001 ms, is met a little later in its round
// each time. What is 30 % of every round is then met in every sample for a while, and in none for
// the rest of a second:
//
//   load     ##.....##.....##.....##.....##.....##.....##.....##.....
//   samples  |       |       |       |       |       |       |
//   met      #       #       .       .       .       .       .       …  then # again: a beat
//
// In the samples this looks like a program with long visits, of which the share would be nearly
// exact. It is not: it is right after whole beats, and off by what the last beat is short of. A
// beat is told by its regularity, which the phases of programs seldom have; where a program has it,
// the interval is wider than it need be. Less than two and a half beats cannot be told from the
// phases of a program, and exact step not at all.

#pragma once

#include <span>

#include "src/estimate/share.h"

namespace profiler::estimate {

// What a beat of samples with this excess (slices.h) may have moved their count by: its variance,
// in squared samples; 0 where there is no beat, the samples are too few to tell, or less than half
// a percent of all. Quadratic in the slices.
double BeatVariance(const ShareSamples& samples, std::span<const float> excess);

}  // namespace profiler::estimate
