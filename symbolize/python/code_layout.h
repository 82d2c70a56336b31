// Describes CPython's objects in one process, as far as names and lines of code need them. Beside
// the offsets of WalkLayout. All offsets are in bytes from the start of an object.

#pragma once

#include <cstdint>

#include "symbolize/python/walk_layout.h"

namespace profiler::symbolize::python {

// The format of the table that maps instructions to lines.
enum class LineFormat : uint8_t {
  kSteps,      // co_lnotab, to 3.9: each entry begins where the line changes
  kRanges,     // co_linetable of 3.10 (PEP 626): each entry is a range
  kLocations,  // co_linetable since 3.11 (PEP 657): ranges with columns, packed
};

struct CodeLayout {
  uint16_t object_type = 8;   // in any object
  uint16_t object_size = 16;  // in objects of variable size: number of elements
  uint16_t type_name = 24;    // address of a NUL-terminated name
  uint16_t type_size = 32;    // size of objects of the type

  // In code objects.
  uint16_t first_line = 0;    // int
  uint16_t instructions = 0;  // the instructions; before 3.11 the address of a bytes object
  // int, number of instructions that are not traced; kPythonNoField before 3.11.
  uint16_t first_traceable = kPythonNoField;
  // Address of an array of the threads' own instructions; kPythonNoField except in free-threaded
  // 3.14.
  uint16_t thread_instructions = kPythonNoField;

  // In texts.
  uint16_t text_state = 32;
  uint16_t text_state_shift = 2;  // bits of the state before the size of a character
  uint16_t text_ascii_header = 0;

  LineFormat line_format = LineFormat::kLocations;
};

// All offsets of one version or one process.
struct Layout {
  WalkLayout walk{};
  CodeLayout code;
};

}  // namespace profiler::symbolize::python
