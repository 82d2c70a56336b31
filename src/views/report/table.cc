#include "src/views/report/table.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "src/views/report/event_tables.h"

namespace profiler::report {

Table::Table(const Histogram& hist, const HistFigures& figures, const ReportOptions& options,
             const FieldLayout& layout)
    : hist_(hist),
      sorted_(hist.sorted()),
      separator_(options.separator),
      columns_(MakeColumns(hist, figures, options, layout)) {
  const auto make_room = [&](size_t row) {
    for (const auto& column : columns_) column->MakeRoomFor(hist.rows()[row]);
  };
  if (options.most_rows != 0) {
    for (const uint32_t row : ListedRows(hist, options)) make_room(row);
    return;
  }
  // As in perf, rows below the percentage limit count.
  for (size_t i = 0; i < sorted_; ++i) {
    Prefetch(i);
    if (hist.IsShown(i)) make_room(i);
  }
}

// Loads the function of a later row, because rows in order of weight refer to functions at random.
void Table::Prefetch(size_t row) const {
  constexpr size_t kAhead = 16;
  const std::span<const HistRow> rows = hist_.rows();
  if (row + kAhead < sorted_) {
    __builtin_prefetch(&hist_.functions()[rows[row + kAhead].function]);
  }
}

void Table::AppendHeadings(std::string& out) const {
  std::string_view before = "# ";
  for (const auto& column : columns_) {
    column->AppendHeading(out.append(before));
    before = separator_.empty() ? "  " : std::string_view(separator_);
  }
  if (!separator_.empty()) {
    out += '\n';
    return;
  }
  before = "\n# ";
  for (const auto& column : columns_) {
    out.append(before).append(column->width(), '.');
    before = "  ";
  }
  out += "\n#\n";
}

void Table::AppendRow(size_t index, std::string& out) {
  Prefetch(index);
  if (columns_.empty()) {
    out += '\n';
    return;
  }
  const HistRow& row = hist_.rows()[index];
  if (!HasSameStart(row)) {
    start_.clear();
    const std::string_view between = separator_.empty() ? "  " : std::string_view(separator_);
    if (separator_.empty()) start_ += between;
    for (size_t i = 0; i + 1 < columns_.size(); ++i) {
      AppendCell(i, index, start_);
      start_ += between;
    }
    started_ = &row;
  }
  out += start_;
  AppendCell(columns_.size() - 1, index, out);
  out += '\n';
}

void Table::AppendCell(size_t column, size_t row, std::string& out) {
  Column& wanted = *columns_[column];
  const size_t start = out.size();
  wanted.AppendCell(row, out);
  const size_t printed = out.size() - start;
  if (printed > wanted.width() && wanted.IsCut()) out.resize(start + wanted.width());
  const bool is_filled_up = column + 1 != columns_.size() || wanted.IsFilledUp();
  if (printed < wanted.width() && is_filled_up) out.append(wanted.width() - printed, ' ');
  if (separator_.empty() || !wanted.IsText()) return;
  std::replace(out.begin() + static_cast<std::ptrdiff_t>(start), out.end(), separator_[0], '.');
}

bool Table::HasSameStart(const HistRow& row) const {
  return started_ != nullptr &&
         std::all_of(columns_.begin(), columns_.end() - 1,
                     [&](auto& column) { return column->HaveSameCell(row, *started_); });
}

}  // namespace profiler::report
