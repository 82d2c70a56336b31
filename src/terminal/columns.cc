#include "src/terminal/columns.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "src/base/utf8.h"

namespace profiler::terminal {
namespace {

constexpr size_t kTab = 8;

struct Range {
  uint32_t first, last;
};

// Characters that have two columns: Unicode's East Asian Width W and F, and pictographs.
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},  {0x3041, 0xa4cf},
                           {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe30, 0xfe6f},
                           {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
                           {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
// Characters that have no column: combining and invisible ones.
constexpr Range kNarrow[] = {{0x300, 0x36f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
                             {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};

template <size_t kSize>
bool IsIn(const Range (&ranges)[kSize], uint32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges), [code](const Range& range) {
    return code >= range.first && code <= range.last;
  });
}

}  // namespace

Glyph GlyphAt(std::string_view text, size_t column) {
  if (text.front() == '\t') return {1, kTab - column % kTab};
  const Utf8Character first = FirstCharacter(text);
  if (first.size == 0) return {};
  if (IsIn(kNarrow, first.code_point)) return {first.size, 0};
  return {first.size, IsIn(kWide, first.code_point) ? size_t{2} : size_t{1}};
}

size_t ColumnsOf(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const Glyph glyph = GlyphAt(text.substr(at), columns);
    columns += glyph.columns;
    at += glyph.size;
  }
  return columns;
}

size_t PrefixIn(std::string_view text, size_t column, size_t columns) {
  size_t size = 0, used = 0;
  while (size < text.size()) {
    const Glyph glyph = GlyphAt(text.substr(size), column + used);
    if (used + glyph.columns > columns) break;
    used += glyph.columns;
    size += glyph.size;
  }
  return size;
}

}  // namespace profiler::terminal
