#include "src/terminal/visible_text.h"

#include <cstddef>
#include <cstdint>

#include "src/base/text.h"
#include "src/base/utf8.h"

namespace profiler::terminal {
namespace {

// Returns 1 unless the character is printable ASCII, newline or tab. Has no branches and returns a
// byte, so that compilers vectorise the loop.
uint8_t IsOdd(char c) {
  const auto byte = static_cast<uint8_t>(c);
  const auto not_printable = static_cast<uint8_t>(static_cast<uint8_t>(byte - ' ') >= 0x7f - ' ');
  return not_printable & static_cast<uint8_t>(byte != '\n') & static_cast<uint8_t>(byte != '\t');
}

// Returns the size of the longest prefix of `text` without odd bytes (IsOdd).
size_t PlainStart(std::string_view text) {
  constexpr size_t kBlock = 64;
  size_t size = 0;
  for (; size + kBlock <= text.size(); size += kBlock) {
    const char* const block = text.data() + size;
    uint8_t odd = 0;
    for (size_t i = 0; i < kBlock; ++i) odd |= IsOdd(block[i]);
    if (odd != 0) break;
  }
  while (size < text.size() && IsOdd(text[size]) == 0) ++size;
  return size;
}

// Returns the size of the first character, or of an invalid byte. Sets `*control` to true if the
// character must be shown in octal.
size_t LookAt(std::string_view text, bool* control) {
  const Utf8Character first = FirstCharacter(text);
  const bool is_character = first.size != 0;
  const uint32_t code = is_character ? first.code_point : static_cast<unsigned char>(text[0]);
  *control = IsControl(code) && code != '\n' && code != '\t';
  return is_character ? first.size : 1;
}

}  // namespace

void AppendOctal(std::string_view bytes, std::string* out) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    *out += '\\';
    for (const int shift : {6, 3, 0}) *out += static_cast<char>('0' + (byte >> shift & 7));
  }
}

std::string_view VisibleText(std::string_view text, std::string* buffer) {
  size_t seen = 0, copied = 0;
  buffer->clear();
  while ((seen += PlainStart(text.substr(seen))) < text.size()) {
    bool control = false;
    const size_t size = LookAt(text.substr(seen), &control);
    if (control) {
      buffer->append(text, copied, seen - copied);
      AppendOctal(text.substr(seen, size), buffer);
      copied = seen + size;
    }
    seen += size;
  }
  if (copied == 0) return text;
  buffer->append(text, copied);
  return *buffer;
}

}  // namespace profiler::terminal
