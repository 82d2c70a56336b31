// Converts text that is shown or passed to abseil.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace profiler {

// Converts to the type that abseil's functions take. If abseil was built for C++14, as on Debian
// 12, absl::string_view is a class of its own, without a conversion from std::string_view.
inline absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// Returns the part of a path after the last slash.
inline std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Appends foreign text, from a recording or a file, with '?' in place of each control character
// except `kept`. Such text must neither look like a line of this program's output nor control the
// terminal.
inline void AppendPrintable(std::string_view text, std::string& out, char kept = '?') {
  const size_t start = out.size();
  out.append(text);
  for (size_t i = start; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    if ((byte < 0x20 || byte == 0x7f) && out[i] != kept) out[i] = '?';
  }
}

// True for C0 and C1 controls, DEL and characters that change the direction of writing.
inline bool IsControl(uint32_t code_point) {
  const bool changes_direction = (code_point >= 0x202a && code_point <= 0x202e) ||
                                 (code_point >= 0x2066 && code_point <= 0x2069);
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) || changes_direction;
}

// Returns two hexadecimal digits per byte, as build-ids are written.
inline std::string HexOf(std::span<const std::byte> bytes) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace profiler
