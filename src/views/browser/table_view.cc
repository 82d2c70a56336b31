#include "src/views/browser/table_view.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/views/browser/code_view.h"

namespace profiler::browser {
namespace {

// "  12.30% ±10.21": the cells of margins and their heading have this many columns.
constexpr size_t kMarginColumns = 6;
// Rows whose margin is at least this part of the percentage show it.
constexpr double kWide = 0.1;

// Returns the byte behind the first percentage of a line of headings or cells: weights are in a
// column of their own.
size_t EndOfWeight(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  return std::min(line.find(' ', begin), line.size());
}

}  // namespace

TableView::TableView(const profile::Profile& profile, const report::ReportOptions& options,
                     std::vector<profile::EventId> events, Margins margins, Kind kind)
    : margins_(margins), table_(profile, options, std::move(events), kind), lines_(table_) {}

TableView::TableView(report::BrowsedProfile& shared, const report::ReportOptions& options,
                     std::vector<profile::EventId> events)
    : margins_(Margins::kNone), table_(shared, options, std::move(events)), lines_(table_) {}

bool TableView::Update(std::span<const profile::RowChange> changes) {
  if (!table_.Update(changes)) return false;
  lines_.FoldAll();
  return true;
}

std::optional<TableView::Line> TableView::Selected() const {
  if (position_.selected() >= lines_.size()) return std::nullopt;
  return lines_.At(position_.selected());
}

void TableView::Select(const Line& line) {
  size_t at = lines_.LineOf(line.row);
  position_.Fit(lines_.size(), visible_);
  while (line.node != 0 && at + 1 < lines_.size() && lines_.At(at).row == line.row &&
         lines_.At(at).node != line.node) {
    ++at;
  }
  position_.Select(at);
}

bool TableView::SelectRow(const std::string& key) {
  for (size_t row = 0; row < table_.rows(); ++row) {
    if (table_.KeyOf(row) != key) continue;
    Select({.row = row});
    return true;
  }
  return false;
}

void TableView::DrawHeadings(terminal::Pane pane, int row, size_t scrolled,
                             const terminal::Style& style) const {
  std::string headings = table_.Headings();
  headings.insert(0, "  ");
  if (margins_ == Margins::kWide) {
    headings.insert(EndOfWeight(headings), absl::StrFormat(" %*s", kMarginColumns, "95%"));
  }
  pane.Put(row, 0, Scrolled(headings, scrolled), style);
}

void TableView::Draw(terminal::Pane pane, size_t scrolled) {
  visible_ = static_cast<size_t>(std::max(pane.rows(), 1));
  position_.Fit(lines_.size(), visible_);
  for (int row = 0; row < pane.rows(); ++row) {
    const size_t at = position_.LineAt(row);
    if (at >= lines_.size()) break;
    DrawLine(pane, row, lines_.At(at), scrolled);
    if (at == position_.selected()) pane.Reverse(row);
  }
}

// Returns a blank and the margin of a row, if it is wide.
std::string TableView::MarginCell(const Line& line, double percent) const {
  const double margin = table_.MarginOf(line.row);
  if (margin < kWide * percent) return std::string(kMarginColumns + 1, ' ');
  // The sign has two bytes in one column.
  return absl::StrFormat(" %*s", kMarginColumns + 1, absl::StrFormat("±%.2f", margin));
}

void TableView::DrawLine(terminal::Pane pane, int row, const Line& line, size_t scrolled) {
  constexpr size_t kIndent = 4;
  const char mark = lines_.MarkOf(line);
  std::string text;
  size_t shares = 2;  // percentages that are coloured
  if (line.node == 0) {
    text = table_.Line(line.row);
    text.front() = mark;
  } else {
    const report::BrowsedNode& node = lines_.NodeOf(line);
    text.assign(kIndent + 2 * line.depth, ' ');
    absl::StrAppend(&text, std::string(1, mark), " ");
    if (line.entry == 0 && !node.value.empty()) absl::StrAppend(&text, node.value, " ");
    // Functions of a run are below the name of the first one.
    if (line.entry != 0 && !node.value.empty()) text.append(node.value.size() + 1, ' ');
    absl::StrAppend(&text, node.functions.empty() ? "" : node.functions[line.entry]);
    if (line.entry != 0 || node.value.empty()) shares = 0;
  }
  size_t begin = 0, end = 0;
  if (line.node == 0 && margins_ == Margins::kWide) {
    const double percent = LeadingPercent(text, 0, &begin, &end);
    if (percent >= 0) {
      text.insert(end + 1, MarginCell(line, percent));
      shares = 1;
    }
  }
  pane.Put(row, 0, Scrolled(text, scrolled));
  for (size_t from = 0; shares > 0; --shares, from = end + 1) {
    const double percent = LeadingPercent(text, from, &begin, &end);
    if (percent < 0 || begin < scrolled) break;
    pane.Put(row, static_cast<int>(begin - scrolled), text.substr(begin, end + 1 - begin),
             terminal::StyleOfPercent(percent));
    if (text.substr(end, 1) != "%") break;
  }
}

void TableView::Press(int row) {
  position_.Fit(lines_.size(), visible_);
  const size_t line = position_.LineAt(row);
  if (line >= lines_.size()) return;
  if (line == position_.selected()) lines_.Toggle(lines_.At(line));
  position_.Select(line);
}

bool TableView::Toggle() {
  const auto line = Selected();
  return line && lines_.Toggle(*line);
}

void TableView::HandleFolds(char key) {
  const auto line = Selected();
  if (key == 'E') lines_.UnfoldAll();
  if (key == 'C') lines_.FoldAll();
  if (!line) return;
  if (key == '+') lines_.Toggle(*line);
  if (key == '-') return Select(lines_.Fold(*line));
  if (key == 'e') lines_.ToggleWhole(*line);
  if (key == 'c' && lines_.MarkOf({.row = line->row}) == '-') lines_.ToggleWhole(*line);
  // The selected line may have been folded away; '+' never does that.
  if (key != '+') Select({.row = line->row});
}

}  // namespace profiler::browser
