// Views as JSON, for programs. One document a view; each says first what it is:
//
//   {"format": "profiler", "version": 1, "view": "diff", …}
//
// docs/json.md says what follows, docs/json.schema.json says so to programs. What is added later
// leaves the version as it is; whatever makes a reader of today read something else changes it.
//
// Pure functions; thread-safe.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace profiler::json {

using Value = nlohmann::ordered_json;

// The beginning of a view's document.
Value Document(std::string_view view);

// With a line break behind it; `Line` has no other. Names are any bytes: those that are no UTF-8
// become U+FFFD.
std::string Text(const Value& document);
std::string Line(const Value& document);

}  // namespace profiler::json
