// Inflates gzip files (RFC 1952) in bounded memory.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace profiler::importers {

bool IsGzip(std::string_view bytes);

// Inflates all members of the file. kDataLoss if it is damaged or cut; kResourceExhausted if it
// inflates to more than 2 GiB, or to so many times its size that it was made to fill memory.
absl::StatusOr<std::string> Gunzip(std::string_view bytes);

// Inflates the first `size` bytes, or fewer if the file ends or is damaged before that.
std::string GunzipStart(std::string_view bytes, size_t size);

}  // namespace profiler::importers
