#include "src/views/browser/code_view.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "src/terminal/columns.h"
#include "src/terminal/style.h"

namespace profiler::browser {

using terminal::Event;
using terminal::Key;
using terminal::Pane;

namespace {

// Returns the percentage of an instruction's line, "  11.90 :   1182:  shl $0xd, %edx".
double PercentOfInstruction(std::string_view line) {
  size_t begin = 0, end = 0;
  const double percent = LeadingPercent(line, 0, &begin, &end);
  return percent >= 0 && line.substr(end).starts_with(" :") ? percent : -1;
}

}  // namespace

double LeadingPercent(std::string_view line, size_t from, size_t* begin, size_t* end) {
  *begin = std::min(line.find_first_not_of(" +-", from), line.size());
  double percent = -1;
  const char* const last = line.data() + line.size();
  const auto [stop, error] =
      std::from_chars(line.data() + *begin, last, percent, std::chars_format::fixed);
  if (error != std::errc()) return -1;
  *end = static_cast<size_t>(stop - line.data());
  const bool has_point = line.substr(*begin, *end - *begin).find('.') != std::string_view::npos;
  const std::string_view behind = line.substr(*end);
  return has_point && (behind.starts_with("%") || behind.starts_with(" :")) ? percent : -1;
}

std::string Scrolled(std::string_view text, size_t columns) {
  const std::string shown = terminal::CellText(text);
  return shown.substr(terminal::PrefixIn(shown, 0, columns));
}

CodeView::CodeView(std::string_view listing) {
  while (!listing.empty()) {
    const size_t end = std::min(listing.find('\n'), listing.size());
    lines_.emplace_back(listing.substr(0, end));
    listing.remove_prefix(std::min(end + 1, listing.size()));
  }
  std::vector<std::pair<double, size_t>> hot;
  for (size_t i = 0; i < lines_.size(); ++i) {
    const double percent = PercentOfInstruction(lines_[i]);
    if (percent > 0) hot.emplace_back(-percent, i);
  }
  std::sort(hot.begin(), hot.end());
  for (const auto& [percent, line] : hot) hot_.push_back(line);
  position_.Fit(lines_.size(), 1);
  if (!hot_.empty()) position_.Select(hot_.front());
}

void CodeView::Draw(Pane pane) {
  const size_t before = position_.selected();
  position_.Fit(lines_.size(), static_cast<size_t>(std::max(pane.rows(), 1)));
  // Shows some lines around the hottest one.
  if (position_.first() == before && before > 0) {
    const size_t above = static_cast<size_t>(pane.rows()) / 2;
    position_.Select(before > above ? before - above : 0);
    position_.Select(before);
  }
  for (int row = 0; row < pane.rows(); ++row) {
    const size_t line = position_.first() + static_cast<size_t>(row);
    if (line >= lines_.size()) break;
    pane.Put(row, 0, Scrolled(lines_[line], scrolled_));
    const double percent = PercentOfInstruction(lines_[line]);
    if (percent > 0 && scrolled_ == 0) {
      size_t begin = 0, end = 0;
      LeadingPercent(lines_[line], 0, &begin, &end);
      pane.Put(row, static_cast<int>(begin), lines_[line].substr(begin, end - begin),
               terminal::StyleOfPercent(percent));
    }
    if (line == position_.selected()) pane.Reverse(row);
  }
}

bool ScrollSideways(const Event& event, size_t* scrolled) {
  if (event.IsKey(Key::kRight)) return *scrolled += terminal::kScrolledColumns, true;
  if (event.IsKey(Key::kLeft)) {
    return *scrolled -= std::min(*scrolled, terminal::kScrolledColumns), true;
  }
  return false;
}

bool CodeView::Handle(const Event& event) {
  if (position_.Handle(event)) return true;
  if (ScrollSideways(event, &scrolled_)) return true;
  if (event.IsKey('H') || event.IsKey(Key::kTab)) {
    if (!hot_.empty()) {
      next_hot_ = event.IsKey('H') ? 0 : (next_hot_ + 1) % hot_.size();
      position_.Select(hot_[next_hot_]);
    }
    return true;
  }
  return false;
}

}  // namespace profiler::browser
