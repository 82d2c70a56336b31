// A profile that is not named yet as bytes, for a recording to carry: whoever has it need not read
// the records, which are many times as long. src/perf_data/FORMAT.md draws the section (SUMS).
//
//   profile ─▶ PutInOrder ─▶ summary   threads of one name are one; no CPUs, no times
//                        └─▶ details   what each row of the summary is made of: thread, CPU, slice
//
// The two parts are compressed apart, so a reader that wants no more than the summary reads no
// more.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/profile/profile.h"
#include "src/profile/sample_selection.h"

namespace profiler::profile {

// How many slices of time a recording's profile has: parts of whole percents are whole slices.
inline constexpr size_t kStoredSlices = 200;

// Stacks are no deeper, for no record has more addresses.
inline constexpr uint32_t kMostFrames = 1 << 15;

// What a recording's profile tells apart.
inline constexpr DimensionSet kStoredDimensions = {true, true, false};
static_assert(kStoredDimensions[static_cast<size_t>(Dimension::kCpu)] &&
              kStoredDimensions[static_cast<size_t>(Dimension::kSlice)]);

// `data_size`: bytes of the records that the profile is of. Threads must be apart, CPUs and slices
// must be kept. Puts the tables in order first, which changes numbers and no figure.
std::string EncodeProfile(Profile& profile, uint64_t data_size);

// What is wanted of a stored profile.
struct Wanted {
  bool threads = false;  // else the threads of one name are one
  DimensionSet dimensions{};
  SampleSelection samples;
};

// The profile of the section, as the records of `data_size` bytes would give it. Nothing where the
// section is of another version, of other records, cut or damaged, where a part of the time is
// wanted that does not begin and end between slices, and where dimensions are that it has not: then
// the records have to be read. Memory: some dozen times the section's at most.
std::optional<Profile> DecodeProfile(std::string_view section, uint64_t data_size,
                                     const Wanted& wanted);

}  // namespace profiler::profile
