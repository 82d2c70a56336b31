// gzip (RFC 1952), for formats that use it and for requests to servers.

#pragma once

#include <string>
#include <string_view>

namespace profiler::exports {

// Level for files that are written once. Level 6 takes twice as long for files that are only 5 %
// smaller.
inline constexpr int kGzipFile = 4;
// Level for messages within a data centre. It takes at most two thirds of the time of level 4, for
// messages that are 10 % larger.
inline constexpr int kGzipMessage = 2;

// Compresses a text. Equal texts yield equal bytes, because no time and no file name are stored.
std::string Gzip(std::string_view text, int level = kGzipFile);

}  // namespace profiler::exports
