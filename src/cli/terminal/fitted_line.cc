#include "src/cli/terminal/fitted_line.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "src/terminal/columns.h"

namespace profiler::cli {
namespace {

using terminal::ColumnsOf;
using terminal::PrefixIn;

constexpr std::string_view kLeftOut = "…";
constexpr size_t kLeastKept = 16;  // least number of columns of a piece that is shortened
// Lines longer than this many bytes are cut at their end, because no name is that long.
constexpr size_t kLongest = 1 << 14;

// Returns the begin of the longest suffix of `text` that fits in `columns`. `text` contains no
// tabs.
size_t EndIn(std::string_view text, size_t columns) {
  size_t begin = 0, left = ColumnsOf(text);
  while (begin < text.size() && left > columns) {
    const terminal::Glyph glyph = terminal::GlyphAt(text.substr(begin), 0);
    left -= std::min(left, glyph.columns);
    begin += glyph.size;
  }
  return begin;
}

bool EndsAName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '>' || c == ')' ||
         c == ']';
}

// Returns the parenthesis that closes the one at `open`; npos if there is none.
size_t ClosingOf(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return text.npos;
}

// True for the line below the headings of a table.
bool HasNoWords(std::string_view line) { return line.find_first_not_of("#. -") == line.npos; }

// Replaces parameters, one list after the other, until the line fits. Parentheses after a blank are
// not parameters.
void LeaveOutParameters(std::string& line, size_t columns) {
  for (size_t open = line.find('('); open != line.npos; open = line.find('(', open + 1)) {
    if (open == 0 || !EndsAName(line[open - 1])) continue;
    if (ColumnsOf(line) <= columns) return;
    const size_t close = ClosingOf(line, open);
    if (close == line.npos) return;
    const size_t size = close - open - 1;
    if (ColumnsOf(std::string_view(line).substr(open + 1, size)) > 1) {
      line.replace(open + 1, size, kLeftOut);
    }
  }
}

// Returns the begin of the last piece that is at least `columns` wide, or else 0.
size_t PieceOf(std::string_view line, size_t columns) {
  size_t begin = line.size();
  while (begin > 0) {
    const size_t blanks = line.substr(0, begin).rfind("  ");
    const size_t tab = line.substr(0, begin).rfind('\t');
    if (blanks == line.npos && tab == line.npos) return 0;
    const bool is_tab = blanks == line.npos || (tab != line.npos && tab > blanks);
    const size_t piece = is_tab ? tab + 1 : blanks + 2;
    if (ColumnsOf(line.substr(piece)) >= columns) return piece;
    begin = is_tab ? tab : blanks;
  }
  return 0;
}

// Returns the size of the call graph's lines and percentage at the start of `text`.
size_t EndOfGraph(std::string_view text) {
  if (!text.starts_with("|") && !text.starts_with("--")) return 0;
  return std::min(text.find_first_not_of("|-.%0123456789"), text.size());
}

std::string WithoutMiddleOfPiece(std::string_view line, size_t columns) {
  const size_t width = ColumnsOf(line);
  size_t piece = PieceOf(line, width - columns + 1 + kLeastKept);
  piece += EndOfGraph(line.substr(piece));
  const std::string_view text = line.substr(piece);
  const size_t before = ColumnsOf(line.substr(0, piece));
  if (before >= columns || text.find('\t') != text.npos) {
    return std::string(line.substr(0, PrefixIn(line, 0, columns - 1))).append(kLeftOut);
  }
  return std::string(line.substr(0, piece)).append(WithoutMiddle(text, columns - before));
}

// Parses "12.50" at the start of `text`. Returns its size and value.
std::optional<std::pair<size_t, double>> PercentageAt(std::string_view text) {
  size_t size = 0;
  while (size < text.size() && std::isdigit(static_cast<unsigned char>(text[size])) != 0) ++size;
  const auto is_digit = [&](size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  if (size == 0 || size > 3 || !is_digit(size + 1) || !is_digit(size + 2)) return std::nullopt;
  if (text[size] != '.' || is_digit(size + 3)) return std::nullopt;
  double value = 0;
  std::from_chars(text.data(), text.data() + size + 3, value, std::chars_format::fixed);
  return std::pair(size + 3, value);
}

std::string_view ColourOf(double percentage) {
  constexpr double kRed = 5, kGreen = 0.5;
  if (percentage >= kRed) return "\033[31m";
  return percentage >= kGreen ? "\033[32m" : "";
}

}  // namespace

std::string WithoutMiddle(std::string_view text, size_t columns) {
  if (ColumnsOf(text) <= columns) return std::string(text);
  const size_t kept = columns - 1;
  return std::string(text.substr(0, PrefixIn(text, 0, kept - kept / 2)))
      .append(kLeftOut)
      .append(text.substr(EndIn(text, kept / 2)));
}

std::string FittedLine(std::string_view line, size_t columns) {
  if (columns == 0 || ColumnsOf(line) <= columns) return std::string(line);
  std::string fitted(line.substr(0, line.find_last_not_of(' ') + 1));
  if (line.size() > kLongest) {
    return fitted.substr(0, PrefixIn(line, 0, columns - 1)).append(kLeftOut);
  }
  if (HasNoWords(fitted)) return fitted.substr(0, columns);
  LeaveOutParameters(fitted, columns);
  return ColumnsOf(fitted) <= columns ? fitted : WithoutMiddleOfPiece(fitted, columns);
}

std::string PaintedLine(std::string_view line) {
  constexpr std::string_view kPlain = "\033[m";
  std::string painted;
  size_t at = 0;
  while (at < line.size()) {
    const size_t next = line.find_first_not_of(" |-", at);
    if (next == line.npos) break;
    painted.append(line, at, next - at);
    at = next;
    const auto percentage = PercentageAt(line.substr(at));
    if (!percentage) break;
    size_t size = percentage->first;
    const std::string_view behind = line.substr(at + size);
    if (behind.starts_with('%')) {
      ++size;
    } else if (!behind.starts_with(" :")) {
      break;
    }
    const std::string_view colour = ColourOf(percentage->second);
    painted.append(colour).append(line, at, size).append(colour.empty() ? "" : kPlain);
    at += size;
  }
  return painted.append(line, at);
}

}  // namespace profiler::cli
