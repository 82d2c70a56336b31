// Pieces of JSON for files that are too large to be built as one value.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace profiler::exports {

// A string with its quotes. What is no UTF-8 becomes U+FFFD.
inline std::string Quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace profiler::exports
