// Decodes UTF-8 from bytes that may not be text.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace profiler {

struct Utf8Character {
  uint32_t code_point = 0;
  size_t size = 0;  // size in bytes; 0: no character begins here
};

// Returns the character at the start of `text` (UTF-8, RFC 3629). Overlong forms, surrogates and
// values above U+10FFFF are not characters.
Utf8Character FirstCharacter(std::string_view text);

// Returns `text` with U+FFFD in place of each byte that is not UTF-8.
std::string ValidUtf8(std::string_view text);

}  // namespace profiler
