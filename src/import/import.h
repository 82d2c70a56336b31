// From the bytes of a profile that another program wrote to a named Profile.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/import/format.h"
#include "src/perf_data/format/features.h"
#include "src/profile/profile.h"

namespace profiler::import {

struct ImportedProfile {
  profile::Profile profile;  // what is not as it could be is in its losses' warnings
  Format format = Format::kFolded;
  uint64_t input = 0;  // bytes that it was read from, as they lay in the file
};

// Reads `bytes`, which may be compressed by gzip, as the given format, or as the one that they are
// recognised as. `path` is where they lie, for files beside it; empty: nowhere. Errors: kDataLoss,
// with where and what was expected, when they are not of that format, damaged or without a sample;
// kInvalidArgument when they are of no known format. Memory: a few times that of the bytes.
absl::StatusOr<ImportedProfile> Import(std::span<const std::byte> bytes,
                                       std::optional<Format> format, const std::string& path = {});

// Import of a file, or of standard input for "-". Errors have the file's name; also those of
// open(2) and, of a pipe, of a temporary file.
absl::StatusOr<ImportedProfile> ImportFile(const std::string& path, std::optional<Format> format);

// The format of a file by its first bytes, which may be compressed.
std::optional<Format> RecognizeFile(std::string_view start);

// Makes the features of a recording say what it was made of.
void SetImported(std::string_view file, Format format, perf_data::Features* features);

}  // namespace profiler::import
