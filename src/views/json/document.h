// The common parts of views as JSON, for programs. Each view is one document that begins with its
// identification:
//
//   {"format": "profiler", "version": 1, "view": "diff", …}
//
// docs/json.md documents the rest, docs/json.schema.json specifies it for programs. Additions keep
// the version; changes that existing readers would misread increase it.
//
// The functions are pure and thread-safe.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace profiler::json {

using Value = nlohmann::ordered_json;

// Returns the beginning of a view's document.
Value Document(std::string_view view);

// Return a document as text that ends with a line break; `Line` has no other line break. Bytes of
// names that are not UTF-8 become U+FFFD.
std::string Text(const Value& document);
std::string Line(const Value& document);

}  // namespace profiler::json
