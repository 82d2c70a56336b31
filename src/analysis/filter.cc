#include "src/analysis/filter.h"

#include <algorithm>
#include <string_view>

namespace profiler::analysis {

using profile::Frame;
using profile::Image;
using profile::Profile;
using profile::Row;
using profile::Thread;

namespace {

// True if the list has the value, or is empty.
template <class T>
bool Names(const std::vector<T>& list, const auto& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

bool Filter::Passes(const Profile& profile, const Thread& thread) const {
  return Names(comms, profile.text(thread.comm)) && Names(pids, thread.pid) &&
         Names(tids, thread.tid);
}

bool Filter::Passes(const Profile& profile, const Frame& interrupted) const {
  const Image& image = profile[interrupted.image];
  if (!Names(images, profile.text(image.name)) && !Names(images, profile.text(image.long_name))) {
    return false;
  }
  const auto lines = profile.LinesOf(interrupted);
  return symbols.empty() || std::ranges::any_of(lines, [&](const profile::Line& line) {
           return line.symbol != profile::kNoSymbol &&
                  Names(symbols, profile.text(profile[line.symbol].name));
         });
}

bool ColumnFilter::Passes(const Profile& profile, size_t row) const {
  if (socket && profile.column(profile::Dimension::kSocket)[row] != *socket) return false;
  return !only_with_parent || profile.column(profile::Dimension::kParent)[row] != 0;
}

RowFilter::RowFilter(const Profile& profile, const Filter& filter) {
  if (filter.empty()) return;
  threads_.reserve(profile.threads.size());
  for (const Thread& thread : profile.threads) threads_.push_back(filter.Passes(profile, thread));
  frames_.reserve(profile.frames.size());
  for (const Frame& frame : profile.frames) frames_.push_back(filter.Passes(profile, frame));
}

void KeepOnly(const Filter& filter, Profile& profile) {
  if (filter.empty()) return;
  const RowFilter rows(profile, filter);
  KeepRows([&](const Row& row) { return rows.Passes(row); }, profile);
}

void KeepRows(absl::FunctionRef<bool(const Row&)> is_kept, Profile& profile) {
  constexpr uint32_t kGone = UINT32_MAX;
  std::vector<uint32_t> moved(profile.order.empty() ? 0 : profile.rows.size(), kGone);
  size_t kept = 0;
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    const Row row = profile.rows[i];
    if (!is_kept(row)) continue;
    for (auto& column : profile.columns) {
      if (!column.empty()) column[kept] = column[i];
    }
    if (!moved.empty()) moved[i] = static_cast<uint32_t>(kept);
    profile.rows[kept++] = row;
  }
  size_t ordered = 0;
  for (profile::OrderedSample sample : profile.order) {
    sample.row = moved[sample.row];
    if (sample.row != kGone) profile.order[ordered++] = sample;
  }
  profile.order.resize(ordered);
  profile.rows.resize(kept);
  for (auto& column : profile.columns) {
    if (!column.empty()) column.resize(kept);
  }
}

}  // namespace profiler::analysis
