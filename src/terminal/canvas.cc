#include "src/terminal/canvas.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "src/base/text.h"
#include "src/base/utf8.h"
#include "src/terminal/columns.h"
#include "src/terminal/visible_text.h"

namespace profiler::terminal {
namespace {

constexpr size_t kTab = 8;
// Most bytes of a cell: a character and a few combining ones. ncurses keeps five characters.
constexpr size_t kMostInCell = 20;

// Characters that terminals treat differently, although they are no controls: marks of direction,
// joiners, line separators, the byte order mark, tags.
bool IsInvisible(uint32_t code) {
  return code == 0xad || code == 0x61c || (code >= 0x200b && code <= 0x200f) || code == 0x2028 ||
         code == 0x2029 || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
         (code >= 0xfff9 && code <= 0xfffb) || code >= 0xe0000;
}

// Similar ASCII characters of the characters that views draw with.
constexpr std::pair<std::string_view, char> kSimilar[] = {
    {"─", '-'}, {"│", '|'}, {"┌", '+'}, {"┐", '+'}, {"└", '+'}, {"┘", '+'}, {"├", '+'},
    {"┤", '+'}, {"┬", '+'}, {"┴", '+'}, {"┼", '+'}, {"…", '~'}, {"▁", '.'}, {"▂", '.'},
    {"▃", ':'}, {"▄", ':'}, {"▅", '='}, {"▆", '='}, {"▇", '#'}, {"█", '#'}, {"▲", '^'},
    {"▼", 'v'}, {"◀", '<'}, {"▶", '>'}, {"←", '<'}, {"→", '>'}, {"↑", '^'}, {"↓", 'v'},
    {"±", '~'}, {"×", 'x'}, {"·", '.'}, {"–", '-'}, {"µ", 'u'}};

char SimilarTo(std::string_view character) {
  for (const auto& [text, similar] : kSimilar) {
    if (text == character) return similar;
  }
  return '?';
}

// Returns a letter for the style; '.' if it is plain.
char LetterOf(Style style) {
  static constexpr char kColours[] = {'.', 'r', 'g', 'y', 'l', 'm', 'c', 'e'};
  char letter = kColours[static_cast<size_t>(style.colour)];
  if (letter == '.' && style.bold) letter = 'b';
  if (letter == '.' && style.underline) letter = 'u';
  if (!style.reverse) return letter;
  return letter == '.' ? '#' : static_cast<char>(std::toupper(letter));
}

// True if each byte is a character of one column, which most text is.
bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char character) { return character >= ' ' && character <= '~'; });
}

std::string WithoutTrailingBlanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

Canvas::Canvas(Size size)
    : size_({std::max(size.rows, 0), std::max(size.columns, 0)}),
      cells_(static_cast<size_t>(size_.rows) * static_cast<size_t>(size_.columns)) {}

Pane Canvas::Whole() { return {*this, 0, 0, size_}; }

Canvas::Cell& Canvas::CellOf(int row, int column) {
  return cells_[static_cast<size_t>(row) * static_cast<size_t>(size_.columns) +
                static_cast<size_t>(column)];
}

const Canvas::Cell& Canvas::At(int row, int column) const {
  return const_cast<Canvas*>(this)->CellOf(row, column);
}

void Canvas::Split(int row, int column) {
  Cell& cell = CellOf(row, column);
  if (cell.text.empty() && column > 0) CellOf(row, column - 1).text = " ";
  if (column + 1 < size_.columns && CellOf(row, column + 1).text.empty()) {
    CellOf(row, column + 1).text = " ";
  }
}

std::string Canvas::Text() const {
  std::string text;
  for (int row = 0; row < size_.rows; ++row) {
    std::string line;
    for (int column = 0; column < size_.columns; ++column) line += At(row, column).text;
    text += WithoutTrailingBlanks(std::move(line)) + '\n';
  }
  return text;
}

std::string Canvas::Styles() const {
  std::string text;
  for (int row = 0; row < size_.rows; ++row) {
    for (int column = 0; column < size_.columns; ++column) {
      text += LetterOf(At(row, column).style);
    }
    text += '\n';
  }
  return text;
}

void Canvas::ReduceToAscii() {
  for (Cell& cell : cells_) {
    // A wide character becomes two characters.
    if (cell.text.empty()) cell.text = "?";
    if (static_cast<unsigned char>(cell.text.front()) >= 0x80) {
      const Utf8Character first = FirstCharacter(cell.text);
      cell.text = SimilarTo(std::string_view(cell.text).substr(0, first.size));
    }
    cell.text.resize(1);  // without combining characters
  }
}

std::string CellText(std::string_view text) {
  if (IsPlain(text)) return std::string(text);
  std::string shown;
  size_t column = 0;
  while (!text.empty()) {
    if (text.front() == '\t') {
      const size_t blanks = kTab - column % kTab;
      shown.append(blanks, ' ');
      column += blanks;
      text.remove_prefix(1);
      continue;
    }
    const Utf8Character first = FirstCharacter(text);
    const size_t size = std::max<size_t>(first.size, 1);
    if (first.size == 0 || IsControl(first.code_point) || IsInvisible(first.code_point)) {
      AppendOctal(text.substr(0, size), &shown);
      column += 4 * size;
    } else {
      column += GlyphAt(text, column).columns;
      shown += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return shown;
}

Pane Pane::Part(int row, int column, Size size) const {
  const int first_row = std::clamp(row, 0, size_.rows);
  const int first_column = std::clamp(column, 0, size_.columns);
  return {*canvas_,
          row_ + first_row,
          column_ + first_column,
          {std::clamp(row + size.rows - first_row, 0, size_.rows - first_row),
           std::clamp(column + size.columns - first_column, 0, size_.columns - first_column)}};
}

// Puts text that is plain.
int Pane::PutPlain(int row, int column, std::string_view text, const Style& style) {
  for (; !text.empty() && column < size_.columns; ++column, text.remove_prefix(1)) {
    if (!Holds(row, column)) continue;
    canvas_->Split(row_ + row, column_ + column);
    Canvas::Cell& cell = canvas_->CellOf(row_ + row, column_ + column);
    cell.text.assign(1, text.front());
    cell.style = style;
  }
  return column;
}

int Pane::Put(int row, int column, std::string_view text, Style style) {
  if (IsPlain(text)) return PutPlain(row, column, text, style);
  const std::string shown = CellText(text);
  int before = -1;  // column of the last character with a column
  for (std::string_view rest = shown; !rest.empty();) {
    const Glyph glyph = GlyphAt(rest, 0);
    std::string_view character = rest.substr(0, glyph.size);
    rest.remove_prefix(glyph.size);
    if (glyph.columns == 0) {
      if (before < 0 || !Holds(row, before)) continue;
      std::string& cell = canvas_->CellOf(row_ + row, column_ + before).text;
      if (cell.size() + character.size() <= kMostInCell) cell += character;
      continue;
    }
    const int columns = static_cast<int>(glyph.columns);
    if (column + columns > size_.columns) break;
    if (Holds(row, column)) {
      for (int i = 0; i < columns; ++i) {
        canvas_->Split(row_ + row, column_ + column + i);
        Canvas::Cell& cell = canvas_->CellOf(row_ + row, column_ + column + i);
        cell.text = i == 0 ? character : std::string_view();
        cell.style = style;
      }
    }
    before = column;
    column += columns;
  }
  return column;
}

int Pane::PutIn(int row, int column, int columns, std::string_view text, Style style) {
  columns = std::max(std::min(columns, size_.columns - column), 0);
  std::string shown = CellText(text);
  if (ColumnsOf(shown) > static_cast<size_t>(columns)) {
    shown.resize(columns == 0 ? 0 : PrefixIn(shown, 0, static_cast<size_t>(columns) - 1));
    if (columns > 0) shown += "…";
  }
  const int end = Put(row, column, shown, style);
  Put(row, end, std::string(static_cast<size_t>(std::max(column + columns - end, 0)), ' '), style);
  return column + columns;
}

void Pane::PutRight(int row, int end, std::string_view text, Style style) {
  const int columns = static_cast<int>(ColumnsOf(CellText(text)));
  Put(row, std::max(end - columns, 0), text, style);
}

void Pane::Clear(Style style) {
  const std::string blanks(static_cast<size_t>(size_.columns), ' ');
  for (int row = 0; row < size_.rows; ++row) Put(row, 0, blanks, style);
}

void Pane::Reverse(int row) {
  for (int column = 0; column < size_.columns; ++column) {
    if (Holds(row, column)) canvas_->CellOf(row_ + row, column_ + column).style.reverse = true;
  }
}

}  // namespace profiler::terminal
