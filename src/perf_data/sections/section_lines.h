// A section of ours that is text: a line for each field, its key and its values between tabs.
//
//   key ⇥ value [⇥ value …] \n
//
// A reader skips lines whose key it does not know.

#pragma once

#include <string>
#include <string_view>

#include "src/base/text.h"

namespace profiler::perf_data {

// Up to `delimiter`, which is dropped from the front of `*rest` as well.
inline std::string_view TakeUntil(char delimiter, std::string_view* rest) {
  const size_t end = rest->find(delimiter);
  const std::string_view field = rest->substr(0, end);
  rest->remove_prefix(end == std::string_view::npos ? rest->size() : end + 1);
  return field;
}

// What is shown of a value that anybody may have written, and what is written of one.
inline std::string PrintableValue(std::string_view text) {
  std::string value;
  AppendPrintable(text, value);
  return value;
}

}  // namespace profiler::perf_data
