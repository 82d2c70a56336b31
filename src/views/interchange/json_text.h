// Parts of JSON texts, for files that are too large to be built as one value.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "src/base/json_escape.h"

namespace profiler::exports {

// Returns a string in quotes. Bytes that are not UTF-8 become U+FFFD, and control characters are
// escaped.
inline std::string Quoted(std::string_view text) {
  return EscapeControls(
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace profiler::exports
