// Knows the layouts of CPython 3.8 to 3.12, and reads those of 3.13 and 3.14 from the table that
// the runtime has for debuggers.
//
//   _PyRuntime   │ "xdebugpy" │ version │ is free-threaded │ offsets, 8 bytes each │ …
//
// Source: Include/internal/pycore_runtime.h (3.13), pycore_debug_offsets.h (3.14). The layouts of
// older versions are those of 64-bit systems with glibc or musl, of usual and of debug builds.
//

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "symbolize/python/code_layout.h"

namespace profiler::symbolize::python {

inline constexpr uint16_t VersionOf(int major, int minor) {
  return static_cast<uint16_t>(major << 8 | minor);
}
inline constexpr uint16_t kPython38 = VersionOf(3, 8), kPython310 = VersionOf(3, 10),
                          kPython311 = VersionOf(3, 11), kPython312 = VersionOf(3, 12),
                          kPython313 = VersionOf(3, 13), kPython314 = VersionOf(3, 14);

// A layout with facts to check it.
struct KnownLayout {
  Layout layout;
  uint64_t interpreters_head = 0;  // offset in _PyRuntime
  // Offset in an interpreter of the address of _PyRuntime; kPythonNoField: unknown.
  uint16_t interpreter_runtime = kPythonNoField;
  uint64_t code_size = 0, frame_size = 0;  // sizes of both types' objects; 0: unknown
};

// Returns the layout of 3.8 to 3.12; empty for other versions. WalkLayout::interpreters_head is 0.
std::optional<KnownLayout> LayoutOfVersion(uint16_t version);

inline constexpr std::string_view kDebugCookie = "xdebugpy";
// The largest table of offsets, with its cookie.
inline constexpr size_t kDebugOffsetsBytes = 8 * 96;

struct DebugOffsets {
  uint32_t full_version = 0;  // PY_VERSION_HEX
  bool is_free_threaded = false;
  std::optional<KnownLayout> layout;  // empty: another version, or implausible offsets
};
// Reads the table at the start of _PyRuntime. Empty if there is none.
std::optional<DebugOffsets> ReadDebugOffsets(std::span<const std::byte> runtime);

}  // namespace profiler::symbolize::python
