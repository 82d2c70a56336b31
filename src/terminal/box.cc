#include "src/terminal/box.h"

#include <algorithm>

#include "src/terminal/columns.h"

namespace profiler::terminal {
namespace {

std::string Repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

void Box::Draw(Pane pane) {
  int widest = static_cast<int>(ColumnsOf(CellText(title_))) + 2;
  for (const std::string& line : lines_) {
    widest = std::max(widest, static_cast<int>(ColumnsOf(CellText(line))));
  }
  columns_ = std::min(widest + 2, pane.columns() - 2);
  const int rows = rows_ = std::min(static_cast<int>(lines_.size()), pane.rows() - 2);
  if (columns_ < 1 || rows < 1) return;
  row_ = (pane.rows() - rows) / 2;
  column_ = (pane.columns() - columns_) / 2;
  position_.Fit(lines_.size(), static_cast<size_t>(rows));

  Pane frame = pane.Part(row_ - 1, column_ - 1, {rows + 2, columns_ + 2});
  frame.Clear();
  const std::string line = Repeated("─", columns_);
  frame.Put(0, 0, "┌" + line + "┐");
  if (!title_.empty()) frame.PutIn(0, 2, std::min(widest, columns_ - 1), " " + title_ + " ");
  frame.Put(0, 2 + static_cast<int>(ColumnsOf(CellText(title_))) + 2,
            Repeated("─", columns_ - 3 - static_cast<int>(ColumnsOf(CellText(title_)))));
  for (int row = 0; row < rows; ++row) {
    const size_t at = position_.first() + static_cast<size_t>(row);
    frame.Put(row + 1, 0, "│");
    frame.PutIn(row + 1, 2, columns_ - 2, lines_[at]);
    frame.Put(row + 1, columns_ + 1, "│");
    if (is_menu_ && at == position_.selected()) {
      frame.Part(row + 1, 1, {1, columns_}).Reverse(0);
    }
  }
  frame.Put(rows + 1, 0, "└" + line + "┘");
  const bool is_whole = lines_.size() <= static_cast<size_t>(rows);
  if (!is_whole) frame.Put(rows + 1, 2, " ↑ ↓ ");
}

bool Box::Handle(const Event& event) {
  // Without a selected line, one step must scroll at once.
  if (!is_menu_ && event.IsKey(Key::kDown)) {
    position_.Select(position_.first() + static_cast<size_t>(rows_));
    return true;
  }
  if (!is_menu_ && event.IsKey(Key::kUp)) {
    position_.Select(position_.first() > 0 ? position_.first() - 1 : 0);
    return true;
  }
  return position_.Handle(event);
}

std::optional<size_t> Box::selected() const {
  if (!is_menu_ || lines_.empty()) return std::nullopt;
  return position_.selected();
}

void Box::Select(size_t line) {
  position_.Fit(lines_.size(), lines_.size());
  position_.Select(line);
}

std::optional<size_t> Box::LineAt(int row, int column) const {
  if (column < column_ || column >= column_ + columns_) return std::nullopt;
  const size_t line = position_.LineAt(row - row_);
  if (line >= lines_.size()) return std::nullopt;
  return line;
}

}  // namespace profiler::terminal
