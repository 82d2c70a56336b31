// Text that is passed on and shown.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace profiler {

// For abseil's functions. Where abseil was built for C++14, as Debian 12's is, absl::string_view is
// a class of its own that no std::string_view becomes by itself.
inline absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// The part of a path behind the last slash.
inline std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Appends text of a recording or a file with '?' for each control character but `kept`: what others
// have written must neither look like a line of ours nor steer a terminal.
inline void AppendPrintable(std::string_view text, std::string& out, char kept = '?') {
  const size_t start = out.size();
  out.append(text);
  for (size_t i = start; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    if ((byte < 0x20 || byte == 0x7f) && out[i] != kept) out[i] = '?';
  }
}

// Of the C0 and C1 controls, and DEL.
inline bool IsControl(uint32_t code_point) {
  const bool changes_direction = (code_point >= 0x202a && code_point <= 0x202e) ||
                                 (code_point >= 0x2066 && code_point <= 0x2069);
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) || changes_direction;
}

// Two hexadecimal digits a byte, as build-ids are written.
inline std::string HexOf(std::span<const std::byte> bytes) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace profiler
