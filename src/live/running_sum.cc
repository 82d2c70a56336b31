#include "src/live/running_sum.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace profiler::live {
namespace {

// Adds `part`, or subtracts it if `sign` is -1.
void AddChains(const ChainQuality& part, uint64_t sign, ChainQuality* sum) {
  sum->complete += sign * part.complete;
  sum->late_read += sign * part.late_read;
  sum->guessed += sign * part.guessed;
  sum->no_stack += sign * part.no_stack;
  sum->by_kernel += sign * part.by_kernel;
  sum->broken += sign * part.broken;
  for (const ChainQuality::Cut& cut : part.cuts) {
    auto same = std::find_if(sum->cuts.begin(), sum->cuts.end(), [&](const ChainQuality::Cut& of) {
      return of.reason == cut.reason && of.image == cut.image;
    });
    if (same == sum->cuts.end()) {
      same = sum->cuts.insert(same, {.chains = 0, .reason = cut.reason, .image = cut.image});
    }
    same->chains += sign * cut.chains;
  }
}

// Drops the cuts that no chain has any more, and puts the most frequent ones first.
void SortCuts(std::vector<ChainQuality::Cut>* cuts) {
  std::erase_if(*cuts, [](const ChainQuality::Cut& cut) { return cut.chains == 0; });
  std::sort(cuts->begin(), cuts->end(), [](const auto& a, const auto& b) {
    return std::tie(b.chains, a.reason, a.image) < std::tie(a.chains, b.reason, b.image);
  });
}

profile::Losses Negative(const profile::Losses& losses) {
  profile::Losses negative;
  negative.lost_records = -losses.lost_records;
  negative.lost_samples = -losses.lost_samples;
  negative.lost_events = -losses.lost_events;
  negative.throttled = -losses.throttled;
  negative.undecodable = -losses.undecodable;
  negative.corrupt_chains = -losses.corrupt_chains;
  negative.unknown_records = -losses.unknown_records;
  return negative;
}

}  // namespace

std::optional<RunningSum::Changes> RunningSum::Refresh() {
  if (!adds_up_ || sum_ == nullptr || IsTooLarge()) {
    MakeAgain();
    return std::nullopt;
  }
  const std::vector<NumberedWindow> windows = history_.Latest(options_.range);
  // The history may have been cleared, or have joined windows of which the sum has only some, or
  // have dropped some that the sum never had.
  const auto is_new = [this](const NumberedWindow& window) { return window.last > last_; };
  const auto first_new = std::find_if(windows.begin(), windows.end(), is_new);
  const bool is_whole =
      first_new == windows.end() ? !windows.empty() || last_ == 0 : first_new->first == last_ + 1;
  if (!is_whole) {
    MakeAgain();
    return std::nullopt;
  }
  Changes changes;
  while (!parts_.empty() && parts_.front().first < windows.front().first) SubtractFirst(&changes);
  for (auto window = first_new; window != windows.end(); ++window) Add(*window, &changes);
  SortCuts(&sum_->chains().cuts);
  return changes;
}

bool RunningSum::IsTooLarge() const {
  return sum_->profile().rows.size() > rows_then_ + options_.most_new_rows ||
         sum_->memory() > bytes_then_ + options_.most_new_bytes;
}

void RunningSum::MakeAgain() {
  sum_ = std::make_shared<MergedProfile>();
  profile_ = {sum_, &sum_->profile()};
  parts_.clear();
  left_out_ = {};
  length_ = {};
  shortened_ = 0;
  last_ = 0;
  if (adds_up_ && options_.range) {
    for (const NumberedWindow& window : history_.Latest(options_.range)) Add(window, nullptr);
  } else {
    TakeSnapshot();
  }
  SortCuts(&sum_->chains().cuts);
  rows_then_ = sum_->profile().rows.size();
  bytes_then_ = sum_->memory();
}

void RunningSum::TakeSnapshot() {
  Snapshot snapshot = history_.Get(options_.range, options_.decay);
  left_out_ = snapshot.left_out;
  length_ = snapshot.length;
  shortened_ = snapshot.shortened;
  last_ = snapshot.last;
  if (options_.prepare) snapshot.profile = options_.prepare(std::move(snapshot.profile));
  if (!adds_up_) {
    // Its rows may have columns that no sum has.
    profile_ = std::make_shared<const profile::Profile>(std::move(snapshot.profile));
    return;
  }
  sum_->Add(snapshot.profile);
  AddWarnings(snapshot.profile.losses.warnings, &sum_->losses());
  sum_->chains() = std::move(snapshot.profile.chains);
}

void RunningSum::Add(const NumberedWindow& added, Changes* changes) {
  const Window& window = *added.window;
  Part part{.first = added.first,
            .left_out = window.left_out,
            .length = window.length(),
            .losses = window.profile.losses,
            .chains = window.profile.chains};
  if (options_.prepare) {
    MergedProfile copy;
    copy.Add(window.profile);
    sum_->Add(options_.prepare(std::move(copy).Take()), 1, &part.changes);
  } else {
    sum_->Add(window.profile, 1, &part.changes);
  }
  AddWarnings(window.profile.losses.warnings, &sum_->losses());
  AddChains(part.chains, 1, &sum_->chains());
  left_out_ += part.left_out;
  length_ += part.length;
  last_ = added.last;
  if (changes != nullptr) {
    changes->insert(changes->end(), part.changes.rows.begin(), part.changes.rows.end());
  }
  if (options_.range) parts_.push_back(std::move(part));
}

void RunningSum::SubtractFirst(Changes* changes) {
  const Part& part = parts_.front();
  sum_->Subtract(part.changes);
  for (const profile::RowChange& change : part.changes.rows) changes->push_back(-change);
  AddLosses(Negative(part.losses), &sum_->losses());
  AddChains(part.chains, -uint64_t{1}, &sum_->chains());
  left_out_ -= part.left_out;
  length_ -= part.length;
  parts_.pop_front();
}

}  // namespace profiler::live
