// Text of any bytes as XML 1.0 text, and as JSON inside XML.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profiler::exports {

// Well-formed UTF-8 of characters that XML 1.0 allows: each byte that is not part of one, and each
// control character, becomes U+FFFD.
std::string CleanUtf8(std::string_view text);

// How many code points clean UTF-8 has, and the bytes of its first `count` ones.
size_t CodePoints(std::string_view clean);
size_t BytesOfCodePoints(std::string_view clean, size_t count);

// Appends `clean` for the content of an element or of an attribute in either quotes.
void AppendXml(std::string& out, std::string_view clean);

// Appends `clean` as a JSON string, quotes included, for the content of an element.
void AppendJsonInXml(std::string& out, std::string_view clean);

}  // namespace profiler::exports
