// Helpers for our sections that are text: one line per field, its key and values separated by tabs.
//
//   key ⇥ value [⇥ value …] \n
//
// A reader skips lines with an unknown key.

#pragma once

#include <string>
#include <string_view>

#include "src/base/text.h"

namespace profiler::perf_data {

// Returns the text before `delimiter`, and removes both from the front of `*rest`.
inline std::string_view TakeUntil(char delimiter, std::string_view* rest) {
  const size_t end = rest->find(delimiter);
  const std::string_view field = rest->substr(0, end);
  rest->remove_prefix(end == std::string_view::npos ? rest->size() : end + 1);
  return field;
}

// Replaces control characters, in values that are written and in values that untrusted files
// contain.
inline std::string PrintableValue(std::string_view text) {
  std::string value;
  AppendPrintable(text, value);
  return value;
}

}  // namespace profiler::perf_data
