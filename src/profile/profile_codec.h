// Encodes and decodes an unnamed profile. A recording carries it so that readers need not read the
// records, which are many times longer. src/format/perf_data/FORMAT.md draws the section (SUMS).
//
//   profile ─▶ PutInOrder ─▶ summary   threads with one name are one; no CPUs, no times
//                        └─▶ details   parts of each row of the summary: thread, CPU, slice
//
// The two parts are compressed separately, so a reader that needs only the summary reads no more.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/profile/profile.h"
#include "src/profile/sample_selection.h"

namespace profiler::profile {

// Number of time slices in a recording's profile. With 200, each whole percent is made of whole
// slices.
inline constexpr size_t kStoredSlices = 200;

// Largest depth of a stack in frames: no record has more addresses.
inline constexpr uint32_t kMostFrames = 1 << 15;

// Dimensions that a recording's profile keeps.
inline constexpr DimensionSet kStoredDimensions = {true, true, false};
static_assert(kStoredDimensions[static_cast<size_t>(Dimension::kCpu)] &&
              kStoredDimensions[static_cast<size_t>(Dimension::kSlice)]);

// Encodes a profile. `data_size` is the size of the profile's records in bytes. The profile must
// keep threads, CPUs and slices. Reorders its tables first, which changes ids but no counts.
std::string EncodeProfile(Profile& profile, uint64_t data_size);

// The contents that a reader needs of a stored profile.
struct Wanted {
  bool threads = false;  // False: threads with the same name are merged.
  DimensionSet dimensions{};
  SampleSelection samples;
};

// Decodes the section to the profile that the records of `data_size` bytes would give. Returns
// nothing if the records have to be read. That is so if the section has another version, belongs to
// other records, or is cut or damaged. It is also so if a wanted time does not begin and end
// between slices, or if wanted dimensions are missing. Uses at most some dozen times the section's
// memory.
std::optional<Profile> DecodeProfile(std::string_view section, uint64_t data_size,
                                     const Wanted& wanted);

}  // namespace profiler::profile
