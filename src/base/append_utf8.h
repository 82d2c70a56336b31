// Encodes characters as UTF-8.

#pragma once

#include <cstdint>
#include <string>

namespace profiler {

// Appends a code point of at most U+10FFFF.
inline void AppendUtf8(uint32_t c, std::string& text) {
  constexpr uint32_t kTwo = 0x80, kThree = 0x800, kFour = 0x10000;
  const auto add = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (c < kTwo) {
    add(c);
  } else if (c < kThree) {
    add(0xc0 | c >> 6), add(0x80 | (c & 0x3f));
  } else if (c < kFour) {
    add(0xe0 | c >> 12), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
  } else {
    add(0xf0 | c >> 18), add(0x80 | (c >> 12 & 0x3f)), add(0x80 | (c >> 6 & 0x3f));
    add(0x80 | (c & 0x3f));
  }
}

}  // namespace profiler
