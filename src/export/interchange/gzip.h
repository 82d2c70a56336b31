// gzip (RFC 1952), for formats whose files are compressed so.

#pragma once

#include <string>
#include <string_view>

namespace profiler::exports {

// The same bytes for the same text: no time and no name are in it.
std::string Gzip(std::string_view text);

}  // namespace profiler::exports
