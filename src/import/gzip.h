// Files that gzip has compressed (RFC 1952), in bounded memory.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace profiler::import {

bool IsGzip(std::string_view bytes);

// All members of the file, one behind the other. kDataLoss where it is damaged or cut;
// kResourceExhausted where it inflates to more than 2 GiB, or to so many times its size that it was
// made to fill memory.
absl::StatusOr<std::string> Gunzip(std::string_view bytes);

// The first `size` bytes, or as many as there are before the end or the damage.
std::string GunzipStart(std::string_view bytes, size_t size);

}  // namespace profiler::import
