// gzip (RFC 1952), for files of other programs and for requests to servers.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace profiler {

// Level for files that are written once. Level 6 takes twice as long for files that are only 5 %
// smaller.
inline constexpr int kGzipFile = 4;
// Level for messages within a data centre. It takes at most two thirds of the time of level 4, for
// messages that are 10 % larger.
inline constexpr int kGzipMessage = 2;

// Compresses a text. Equal texts yield equal bytes, because no time and no file name are stored.
std::string Gzip(std::string_view text, int level = kGzipFile);

// True if `bytes` begin as a gzip file.
bool IsGzip(std::string_view bytes);

// Inflates all members of the file. Returns kDataLoss if the file is damaged or cut. Returns
// kResourceExhausted if the inflated file exceeds 2 GiB, or is so many times larger than the file
// that the file was made to fill memory.
absl::StatusOr<std::string> Gunzip(std::string_view bytes);

// Returns the first `size` bytes of the inflated file; fewer if the file ends or is damaged before
// that.
std::string GunzipStart(std::string_view bytes, size_t size);

}  // namespace profiler
