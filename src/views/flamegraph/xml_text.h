// Converts arbitrary bytes to XML 1.0 text, and to JSON inside XML.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profiler::exports {

// Returns well-formed UTF-8 that XML 1.0 allows. Each invalid byte and each control character
// becomes U+FFFD.
std::string CleanUtf8(std::string_view text);

// Return the number of code points of clean UTF-8, and the size in bytes of its first `count` ones.
size_t CodePoints(std::string_view clean);
size_t BytesOfCodePoints(std::string_view clean, size_t count);

// Appends `clean`, escaped for the content of an XML element, and for an attribute in either kind
// of quotes.
void AppendXml(std::string& out, std::string_view clean);

// Appends `clean` as a JSON string in quotes, escaped for the content of an XML element.
void AppendJsonInXml(std::string& out, std::string_view clean);

}  // namespace profiler::exports
