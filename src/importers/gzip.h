// Inflates gzip files (RFC 1952) in bounded memory.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace profiler::importers {

bool IsGzip(std::string_view bytes);

// Inflates all members of the file. Returns kDataLoss if the file is damaged or cut. Returns
// kResourceExhausted if the inflated file exceeds 2 GiB, or is so many times larger than the file
// that the file was made to fill memory.
absl::StatusOr<std::string> Gunzip(std::string_view bytes);

// Returns the first `size` bytes of the inflated file; fewer if the file ends or is damaged before
// that.
std::string GunzipStart(std::string_view bytes, size_t size);

}  // namespace profiler::importers
