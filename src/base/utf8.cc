#include "src/base/utf8.h"

namespace profiler {
namespace {

// Returns the size in bytes of a character whose first byte is `first`; 0 if no character begins
// with it.
size_t SizeOfSequence(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xf0 && first < 0xf5) return 4;
  return 0;
}

}  // namespace

Utf8Character FirstCharacter(std::string_view text) {
  if (text.empty()) return {};
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t size = SizeOfSequence(first);
  if (size == 0 || size > text.size()) return {};
  if (size == 1) return {first, 1};
  uint32_t code = first & (0x7fU >> size);
  for (size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return {};
    code = code << 6 | (byte & 0x3fU);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (overlong || surrogate || code > 0x10ffff) return {};
  return {code, size};
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t size = FirstCharacter(text).size;
    if (size == 0) {
      valid += "\xEF\xBF\xBD";
    } else {
      valid += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return valid;
}

}  // namespace profiler
