// Imports a profile of another program as a named Profile.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/format/perf_data/format/features.h"
#include "src/importers/format.h"
#include "src/profile/profile.h"

namespace profiler::importers {

struct ImportedProfile {
  profile::Profile profile;  // its warnings describe everything that could not be imported well
  Format format = Format::kFolded;
  uint64_t input = 0;  // size of the input in bytes, before decompression
};

// Imports `bytes`, which may be compressed by gzip. If `format` is unset, the bytes decide the
// format. `path` is the location of the file, because other files beside it may be read too; empty:
// unknown. Returns kDataLoss, with the position and what was expected there, if the bytes have
// another format, are damaged or have no sample. Returns kInvalidArgument if no format is
// recognised. Uses a few times the memory of the bytes.
absl::StatusOr<ImportedProfile> Import(std::span<const std::byte> bytes,
                                       std::optional<Format> format, const std::string& path = {});

// Imports a file, or standard input for "-". Errors contain the file's name. Also returns the
// errors of open(2) and, if the input is a pipe, those of creating a temporary file.
absl::StatusOr<ImportedProfile> ImportFile(const std::string& path, std::optional<Format> format);

// Recognises a file's format by its first bytes, which may be compressed.
std::optional<Format> RecognizeFile(std::string_view start);

// Sets the features of a recording that say from which file and format it was made.
void SetImported(std::string_view file, Format format, perf_data::Features* features);

}  // namespace profiler::importers
