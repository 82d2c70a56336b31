// Characters in bytes that may be no text.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace profiler {

struct Utf8Character {
  uint32_t code_point = 0;
  size_t size = 0;  // in bytes; 0: none begins here
};

// The character at the start of `text`, as UTF-8 has it (RFC 3629): none that is overlong, a
// surrogate, or above U+10FFFF.
Utf8Character FirstCharacter(std::string_view text);

// `text` with U+FFFD in place of each byte that is no UTF-8.
std::string ValidUtf8(std::string_view text);

}  // namespace profiler
