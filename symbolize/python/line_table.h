// Decodes CPython's tables of lines. Offsets are in bytes from the first instruction.
//
//   kSteps      │ +offset │ ±line │ …             unsigned and signed bytes; a line begins there
//   kRanges     │ size │ ±line │ …                −128: the range has no line
//   kLocations  │ 1 kind:4 units−1:3 │ rest │ …   the kind says how many bytes follow
//
// Source: Objects/lnotab_notes.txt (3.8 to 3.10), Objects/locations.md (3.11),
// Objects/codeobject.c.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "symbolize/python/code_layout.h"

namespace profiler::symbolize::python {

inline constexpr uint32_t kUnit = 2;  // bytes of a code unit

// The start of some instructions with one line.
struct Line {
  uint32_t offset = 0;
  uint32_t line = 0;  // 0: none
  bool operator==(const Line&) const = default;
};

// Returns the lines, sorted by offset, neighbours with different lines. Decoding ends at the first
// invalid entry, at the end of the code (`code_size`, in bytes), or after kMostLines.
inline constexpr size_t kMostLines = size_t{1} << 16;
std::vector<Line> DecodeLines(LineFormat format, std::span<const std::byte> table,
                              int32_t first_line, uint32_t code_size);

// Returns the line of the instruction; 0: unknown.
uint32_t FindLine(std::span<const Line> lines, uint32_t offset);

}  // namespace profiler::symbolize::python
