// Between a profile that has no names yet and the sums that a recording carries.
//
// Private to this package.

#pragma once

#include "src/base/sample_sums.h"
#include "src/profile/image_table.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// Whether sums that were read can be those of a profile with so many events.
bool AreOf(const SampleSums& sums, size_t events);

// Adds events, images, threads, frames, stacks, rows and losses, of which there are none yet, in
// the order of sums_order.h. Threads of one name must be one.
void SumUp(const Profile& profile, const ImageTable& images,
           const symbolize::Symbolizer& symbolizer, SampleSums* sums);

// The other way round: into a profile that has its events and nothing else. The sums must be
// AreOf() it. Frees their tables one by one, so that the profile's need little memory besides.
void AddSums(SampleSums sums, ImageTable& images, Profile& profile);

}  // namespace profiler::profile
