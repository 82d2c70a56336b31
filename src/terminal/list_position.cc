#include "src/terminal/list_position.h"

#include <algorithm>

namespace profiler::terminal {

void ListPosition::Fit(size_t lines, size_t visible) {
  lines_ = lines;
  visible_ = std::max<size_t>(visible, 1);
  Select(selected_);
}

void ListPosition::Select(size_t line) {
  selected_ = lines_ == 0 ? 0 : std::min(line, lines_ - 1);
  const size_t last_first = lines_ > visible_ ? lines_ - visible_ : 0;
  first_ = std::min(first_, last_first);
  if (selected_ < first_) first_ = selected_;
  if (selected_ >= first_ + visible_) first_ = selected_ - visible_ + 1;
}

void ListPosition::Move(ptrdiff_t by) {
  const auto at = static_cast<ptrdiff_t>(selected_) + by;
  Select(static_cast<size_t>(std::max<ptrdiff_t>(at, 0)));
}

bool ListPosition::Handle(const Event& event) {
  constexpr ptrdiff_t kWheel = 3;
  const auto page = static_cast<ptrdiff_t>(visible_);
  if (event.kind == Event::Kind::kWheelUp) return Move(-kWheel), true;
  if (event.kind == Event::Kind::kWheelDown) return Move(kWheel), true;
  if (event.kind != Event::Kind::kKey) return false;
  const auto is = [&event](auto... keys) { return (event.IsKey(keys) || ...); };
  if (is(Key::kUp)) return Move(-1), true;
  if (is(Key::kDown)) return Move(1), true;
  if (is(Key::kPageUp, CtrlOf('b'))) return Move(-page), true;
  if (is(Key::kPageDown, CtrlOf('f'), ' ')) return Move(page), true;
  if (is(Key::kHome)) return Select(0), true;
  if (is(Key::kEnd)) return Select(lines_), true;
  return false;
}

size_t ListPosition::LineAt(int row) const {
  if (row < 0 || static_cast<size_t>(row) >= visible_) return lines_;
  return std::min(first_ + static_cast<size_t>(row), lines_);
}

}  // namespace profiler::terminal
