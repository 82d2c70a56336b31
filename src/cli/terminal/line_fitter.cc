#include "src/cli/terminal/line_fitter.h"

#include <algorithm>
#include <utility>

#include "src/cli/terminal/fitted_line.h"
#include "src/terminal/columns.h"

namespace profiler::cli {
namespace {

using terminal::ColumnsOf;
using terminal::PrefixIn;

constexpr std::string_view kComment = "# ";
constexpr std::string_view kBetween = "  ";  // between columns

std::string_view WithoutPadding(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// True for the line of dots below a heading.
bool IsRule(std::string_view line) {
  return line.starts_with(kComment) && line.find("..") != line.npos &&
         line.find_first_not_of("#. ") == line.npos;
}

// True for a comment with several columns.
bool IsHeading(std::string_view line) {
  return line.starts_with(kComment) &&
         WithoutPadding(line).find(kBetween, kComment.size()) != line.npos;
}

// Breaks a comment between words, so that each of its lines fits.
std::vector<std::string> Wrapped(std::string_view comment, size_t columns) {
  constexpr std::string_view kIndent = "#   ";
  std::vector<std::string> lines;
  std::string line(comment.substr(0, 1));
  for (std::string_view rest = comment.substr(kComment.size()); !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const bool is_empty = line.size() <= kIndent.size();
    if (!is_empty && ColumnsOf(line) + 1 + ColumnsOf(word) > columns) {
      lines.push_back(std::exchange(line, std::string(kIndent)));
      line += word;
    } else {
      line.append(" ").append(word);
    }
  }
  lines.push_back(std::move(line));
  return lines;
}

// Returns the number of blanks in front of the comment of a line; 0 if it has none.
size_t BlanksBeforeComment(std::string_view line) {
  const size_t comment = line.find("  # ");
  if (comment == line.npos) return 0;
  const size_t text = line.find_last_not_of(' ', comment);
  return comment + kBetween.size() - (text == line.npos ? 0 : text + 1);
}

}  // namespace

std::string WithNarrowComments(std::string_view lines, size_t columns) {
  size_t widest = 0, fewest_blanks = lines.size();
  const auto for_each = [&](auto&& visit) {
    for (std::string_view rest = lines; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      visit(line);
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
  };
  for_each([&](std::string_view line) {
    const size_t blanks = BlanksBeforeComment(line);
    if (blanks == 0) return;
    widest = std::max(widest, ColumnsOf(WithoutPadding(line)));
    fewest_blanks = std::min(fewest_blanks, blanks);
  });
  if (columns == 0 || widest <= columns) return std::string(lines);
  const size_t removed = std::min(widest - columns, fewest_blanks - kBetween.size());
  std::string narrow;
  for_each([&](std::string_view line) {
    const size_t at = BlanksBeforeComment(line) == 0 ? 0 : line.find("  # ");
    narrow.append(at == 0 ? line : line.substr(0, at - std::min(removed, at)));
    if (at != 0) narrow.append(WithoutPadding(line.substr(at)));
    narrow += '\n';
  });
  return narrow;
}

// Narrows the widest columns first, except the last one, until the last one has room for a name. No
// column gets narrower than its heading, so that columns of numbers keep all digits.
std::vector<LineFitter::Column> LineFitter::PlanFor(std::string_view heading, std::string_view rule,
                                                    size_t columns) {
  constexpr size_t kRoomForNames = 30, kNarrowest = 12;
  std::vector<Column> plan;
  for (size_t at = kComment.size(); at < rule.size();) {
    const size_t end = std::min(rule.find(' ', at), rule.size());
    const size_t from = PrefixIn(heading, 0, at), to = PrefixIn(heading, 0, end);
    const size_t of_heading = ColumnsOf(WithoutPadding(heading.substr(from, to - from)));
    plan.push_back({at, end, end - at, std::max(of_heading, kNarrowest)});
    at = std::min(rule.find('.', end), rule.size());
  }
  if (plan.size() < 2) return {};
  const size_t wanted = std::min(plan.back().width, kRoomForNames) + plan.back().begin;
  bool is_narrowed = false;
  for (size_t missing = wanted > columns ? wanted - columns : 0; missing != 0; --missing) {
    const auto room = [](const Column& column) {
      return column.width > column.narrowest ? column.width : 0;
    };
    const auto widest =
        std::max_element(plan.begin(), plan.end() - 1,
                         [&](const Column& a, const Column& b) { return room(a) < room(b); });
    if (room(*widest) == 0) break;
    --widest->width;
    is_narrowed = true;
  }
  return is_narrowed ? plan : std::vector<Column>{};
}

// Narrows the cells of a row. Lines of a call graph have text between the columns, and stay as they
// are.
std::string LineFitter::Fit(std::string_view line) const {
  if (plan_.empty() || ColumnsOf(line) <= plan_.back().begin) return FittedLine(line, columns_);
  const auto at = [&](size_t column) { return PrefixIn(line, 0, column); };
  std::string narrow;
  for (size_t i = 0; i + 1 < plan_.size(); ++i) {
    const Column& column = plan_[i];
    const size_t previous = i == 0 ? 0 : at(plan_[i - 1].end);
    const size_t begin = at(column.begin), end = at(column.end);
    if (line.substr(end, kBetween.size()) != kBetween) return FittedLine(line, columns_);
    narrow.append(line.substr(previous, begin - previous));
    const std::string_view cell = line.substr(begin, end - begin);
    if (ColumnsOf(cell) == column.width) {
      narrow.append(cell);
      continue;
    }
    const bool is_rule = cell.find_first_not_of('.') == cell.npos;
    const std::string text = is_rule ? std::string(column.width, '.')
                                     : WithoutMiddle(WithoutPadding(cell), column.width);
    narrow.append(text).append(column.width - std::min(ColumnsOf(text), column.width), ' ');
  }
  narrow.append(line.substr(at(plan_[plan_.size() - 2].end)));
  return FittedLine(WithoutPadding(narrow), columns_);
}

std::vector<std::string> LineFitter::Finish() {
  if (!heading_) return {};
  return {FittedLine(*std::exchange(heading_, std::nullopt), columns_)};
}

std::vector<std::string> LineFitter::Add(std::string_view line) {
  if (columns_ == 0) return {std::string(line)};
  if (heading_ && IsRule(line)) {
    plan_ = PlanFor(*heading_, line, columns_);
    std::vector<std::string> lines = {Fit(*std::exchange(heading_, std::nullopt)), Fit(line)};
    return lines;
  }
  std::vector<std::string> lines = Finish();
  if (IsHeading(line)) {
    plan_.clear();
    heading_ = line;
    return lines;
  }
  const bool is_sentence = line.starts_with(kComment) && !IsRule(line);
  if (is_sentence && ColumnsOf(WithoutPadding(line)) > columns_) {
    for (std::string& part : Wrapped(WithoutPadding(line), columns_)) {
      lines.push_back(FittedLine(part, columns_));
    }
    return lines;
  }
  lines.push_back(Fit(line));
  return lines;
}

}  // namespace profiler::cli
