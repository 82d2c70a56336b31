// Detects loads that run nearly in step with the sampler, and widens their intervals.
//
// A load that repeats every 1.000 ms, sampled every 1.001 ms, is met a little later in its cycle
// each time. A function that takes 30 % of each cycle is then in every sample for a while, and in
// none for the rest of a second:
//
//   load     ##.....##.....##.....##.....##.....##.....##.....##.....
//   samples  |       |       |       |       |       |       |
//   met      #       #       .       .       .       .       .       …  then # again: a beat
//
// The samples look like a program with long visits, whose share would be nearly exact. The share is
// right only after whole beats; an unfinished last beat distorts it. A beat shows by its
// regularity, which the phases of programs seldom have. If a program is that regular, its interval
// is wider than necessary. Fewer than two and a half beats look like phases of a program, and a
// load that is exactly in step cannot be detected.

#pragma once

#include <span>

#include "src/analysis/estimate/share.h"

namespace profiler::estimate {

// Returns the variance that a beat adds to the count of samples with this excess (slices.h), in
// squared samples. Returns 0 if there is no beat, or if the samples are too few to decide or less
// than half a percent of all. Quadratic in the slices.
double BeatVariance(const ShareSamples& samples, std::span<const float> excess);

}  // namespace profiler::estimate
