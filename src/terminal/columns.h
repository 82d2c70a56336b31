// Measures text in columns of a terminal.

#pragma once

#include <cstddef>
#include <string_view>

namespace profiler::terminal {

// Columns by which an arrow key scrolls text to the side.
inline constexpr size_t kScrolledColumns = 8;

// The first character of a text, or an invalid byte.
struct Glyph {
  size_t size = 1;     // bytes
  size_t columns = 1;  // 2 for a wide character, 0 for a combining one
};

// Returns the first character of `text`, which is not empty and begins at `column` of its line. A
// tab extends to the next multiple of eight columns.
Glyph GlyphAt(std::string_view text, size_t column);

// Returns the text's width in columns.
size_t ColumnsOf(std::string_view text);

// Returns the size of the longest prefix of `text` that fits in `columns`. `text` begins at
// `column`.
size_t PrefixIn(std::string_view text, size_t column, size_t columns);

}  // namespace profiler::terminal
