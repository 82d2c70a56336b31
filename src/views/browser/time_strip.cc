#include "src/views/browser/time_strip.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/terminal/strip.h"

namespace profiler::browser {

using profile::Dimension;
using terminal::Event;
using terminal::Key;

TimeStrip::TimeStrip(const profile::Profile& profile, profile::EventId event)
    : length_(profile.slices.length), weights_(std::max<size_t>(profile.slices.slices.size(), 1)) {
  const auto& slices = profile.column(Dimension::kSlice);
  if (slices.empty()) return;
  for (size_t row = 0; row < profile.rows.size(); ++row) {
    if (profile.rows[row].event != event) continue;
    weights_[std::min<size_t>(slices[row], weights_.size() - 1)] +=
        static_cast<double>(profile.rows[row].period);
  }
}

std::pair<size_t, size_t> TimeStrip::SlicesOf(int column) const {
  const auto at = [&](int wanted) {
    return static_cast<size_t>(wanted) * weights_.size() / static_cast<size_t>(columns_);
  };
  const size_t first = at(column);
  return {first, std::max(at(column + 1), first + 1) - 1};
}

std::string TimeStrip::TextOf(std::pair<uint32_t, uint32_t> slices) const {
  const auto seconds = [&](uint64_t slice) {
    return static_cast<double>(slice * length_) / 1'000'000'000;
  };
  return absl::StrFormat("%.2f s to %.2f s", seconds(slices.first),
                         seconds(uint64_t{slices.second} + 1));
}

std::optional<std::pair<uint32_t, uint32_t>> TimeStrip::UntilColumn(int end) const {
  if (!begin_) return std::nullopt;
  const auto [first, last] = std::minmax(*begin_, end);
  return std::pair(static_cast<uint32_t>(SlicesOf(first).first),
                   static_cast<uint32_t>(SlicesOf(last).second));
}

void TimeStrip::Draw(terminal::Pane pane) {
  columns_ = std::max(pane.columns(), 1);
  cursor_ = std::min(cursor_, columns_ - 1);
  std::vector<double> bars;
  for (int column = 0; column < columns_; ++column) {
    const auto [first, last] = SlicesOf(column);
    double sum = 0;
    for (size_t slice = first; slice <= last; ++slice) sum += weights_[slice];
    bars.push_back(sum / static_cast<double>(last - first + 1));
  }
  const double highest = *std::max_element(bars.begin(), bars.end());
  pane.Clear();
  const auto [first, last] = SlicesOf(cursor_);
  const std::string at = TextOf({static_cast<uint32_t>(first), static_cast<uint32_t>(last)});
  pane.Put(0, 0,
           begin_ ? absl::StrCat("Time ", at, ": press Space at the end of the part to show")
                  : absl::StrCat("Time ", at,
                                 ": press Space at the begin of the part to show, Esc to leave"));
  pane.Put(1, 0, terminal::StripOf(bars, highest), {.colour = terminal::Colour::kCyan});
  const auto [left, right] = std::minmax({begin_.value_or(cursor_), cursor_});
  pane.Part(1, left, {1, right - left + 1}).Reverse(0);
}

bool TimeStrip::Handle(const Event& event, int row) {
  if (event.IsKey(Key::kLeft)) return cursor_ = std::max(cursor_ - 1, 0), true;
  if (event.IsKey(Key::kRight)) return cursor_ = std::min(cursor_ + 1, columns_ - 1), true;
  if (event.IsKey(Key::kHome)) return cursor_ = 0, true;
  if (event.IsKey(Key::kEnd)) return cursor_ = columns_ - 1, true;
  if (event.IsKey(' ') || event.IsKey(Key::kEnter)) {
    (begin_ ? end_ : begin_) = cursor_;
    return true;
  }
  const bool is_here = event.row == row && event.column >= 0 && event.column < columns_;
  if (is_here && event.kind == Event::Kind::kPress) return begin_ = cursor_ = event.column, true;
  if (event.kind == Event::Kind::kRelease && begin_) {
    end_ = cursor_ = std::clamp(event.column, 0, columns_ - 1);
    return true;
  }
  return false;
}

}  // namespace profiler::browser
