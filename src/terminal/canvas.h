// A picture of a terminal's screen: rows of cells. Views draw a whole picture after each event, and
// a Screen (screen.h) shows it. A test reads it as text.
//
//   Canvas canvas({.rows = 24, .columns = 80});
//   Pane list = canvas.Whole().Below(1);          // all except the first line
//   list.Put(0, 2, function_name, kTitleStyle);   // any bytes
//   canvas.Text();                                // lines, without blanks at their ends

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/terminal/style.h"

namespace profiler::terminal {

struct Size {
  int rows = 0, columns = 0;

  bool operator==(const Size&) const = default;
};

// A part of a canvas. Rows and columns count from its first cell; everything outside of it is cut
// off. Valid as long as the canvas.
class Pane;

class Canvas {
 public:
  struct Cell {
    // A character of one or two columns with its combining characters; empty: the second column of
    // a wide character.
    std::string text = " ";
    Style style;
  };

  explicit Canvas(Size size);

  Size size() const { return size_; }
  Pane Whole();
  const Cell& At(int row, int column) const;

  // Returns the rows as lines, without blanks at their ends.
  std::string Text() const;
  // Returns the rows with a letter per cell instead of its text: '.' plain, the first letter of a
  // colour, 'b' bold, 'u' underlined; as a capital letter if reverse ('#' for reverse only).
  std::string Styles() const;

  // Replaces all characters beyond ASCII, for terminals that cannot show them: lines, arrows and
  // bars by similar ASCII characters, others by '?'.
  void ReduceToAscii();

 private:
  friend class Pane;

  Cell& CellOf(int row, int column);
  // Makes room for a character: a wide character that loses one of its columns becomes a blank.
  void Split(int row, int column);

  const Size size_;
  std::vector<Cell> cells_;  // row by row
};

class Pane {
 public:
  Pane(Canvas& canvas, int row, int column, Size size)
      : canvas_(&canvas), row_(row), column_(column), size_(size) {}

  Size size() const { return size_; }
  int rows() const { return size_.rows; }
  int columns() const { return size_.columns; }

  // Returns a part of this pane, without its part outside of this pane.
  Pane Part(int row, int column, Size size) const;
  // Returns this pane without its first `rows` rows, or only with these.
  Pane Below(int rows) const { return Part(rows, 0, {size_.rows - rows, size_.columns}); }
  Pane Top(int rows) const { return Part(0, 0, {rows, size_.columns}); }

  // Writes text and returns the column after it. Shows control characters, marks of direction,
  // invisible characters and bytes that are no text in octal (\033), and tabs as blanks up to the
  // next column that is a multiple of eight, counted from `column`. Cuts the text at the end of the
  // pane; a wide character that does not fit is left out.
  int Put(int row, int column, std::string_view text, Style style = {});
  // As Put, but ends a text that does not fit in `columns` columns with '…'. Fills the rest of
  // these columns with blanks. Returns the column after them.
  int PutIn(int row, int column, int columns, std::string_view text, Style style = {});
  // Writes text that ends before the column `end`.
  void PutRight(int row, int end, std::string_view text, Style style = {});

  // Makes all cells blanks.
  void Clear(Style style = {});
  // Shows a row in reverse, such as a selected one.
  void Reverse(int row);

 private:
  int PutPlain(int row, int column, std::string_view text, const Style& style);
  bool Holds(int row, int column) const {
    return row >= 0 && row < size_.rows && column >= 0 && column < size_.columns;
  }

  Canvas* canvas_;
  int row_, column_;  // the first cell in the canvas
  Size size_;
};

// Returns foreign text as cells show it (Pane::Put), on one line, without tabs.
std::string CellText(std::string_view text);

}  // namespace profiler::terminal
