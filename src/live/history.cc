#include "src/live/history.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/live/chain_counts.h"

namespace profiler::live {
namespace {

using std::chrono::nanoseconds;

void AddTo(const Window& window, MergedProfile* sum, uint64_t factor = 1) {
  sum->Add(window.profile, factor);
  AddWarnings(window.profile.losses.warnings, &sum->losses());
}

// Weights are multiples of 1/kWhole, so that the many single samples of old windows add up.
constexpr uint64_t kWhole = 1 << 12;

// Returns the factor of a window that ended `age` before the latest one. A window of several parts
// gets the mean of their factors.
uint64_t FactorOf(uint64_t age, nanoseconds length, size_t parts, Decay decay) {
  constexpr double kLeft = 7.0 / 8;
  const auto step = static_cast<double>(decay.count());
  const double part = static_cast<double>(length.count()) / static_cast<double>(parts);
  double sum = 0;
  for (size_t i = 0; i < parts; ++i) {
    sum += std::pow(kLeft, (static_cast<double>(age) + part * static_cast<double>(i)) / step);
  }
  return static_cast<uint64_t>(
      std::lround(static_cast<double>(kWhole) * sum / static_cast<double>(parts)));
}

LeftOut Weighted(LeftOut left_out, uint64_t factor) {
  return {.own = left_out.own * factor, .idle = left_out.idle * factor};
}

uint64_t Rounded(uint64_t weighted) { return (weighted + kWhole / 2) / kWhole; }

// Returns to the unit of the samples.
void Unweight(Snapshot* snapshot) {
  for (profile::Event& event : snapshot->profile.events) {
    event.samples = Rounded(event.samples);
    event.period = Rounded(event.period);
  }
  for (profile::Row& row : snapshot->profile.rows) {
    row.count = Rounded(row.count);
    row.period = Rounded(row.period);
  }
  snapshot->left_out = {.own = Rounded(snapshot->left_out.own),
                        .idle = Rounded(snapshot->left_out.idle)};
}

}  // namespace

void History::AddToSum(const NumberedWindow& added) {
  const Window& window = *added.window;
  summed_ = added.last;
  AddTo(window, &sum_);
  sum_left_out_ += window.left_out;
  sum_length_ += window.length();
  sum_windows_ += added.parts();
  if (sum_.memory() <= options_.most_sum_bytes) return;
  double shortened = 0;
  // Half of the limit, so that this happens rarely. Rows and names stay, so the stacks get the rest.
  constexpr size_t kNode = 40;  // bytes
  const size_t others =
      sum_.memory() - std::min(sum_.memory(), kNode * sum_.profile().stacks.size());
  const size_t half = options_.most_sum_bytes / 2;
  profile::Profile shorter = Shortened(sum_.profile(), half - std::min(half, others), &shortened);
  sum_ = MergedProfile();
  sum_.Add(shorter);
  AddWarnings(shorter.losses.warnings, &sum_.losses());
  shortened_ = std::max(shortened_, shortened);
}

void History::Add(Window window) {
  CountChains(&window.profile);
  Kept kept{{.window = std::make_shared<const Window>(std::move(window))}};
  const Window& added = *kept.window;
  kept.bytes = MemoryOf(added.profile);
  const profile::Losses& losses = added.profile.losses;
  const std::lock_guard lock(mutex_);
  uses_.push_back({.end = added.end,
                   .busy = added.busy,
                   .busy_samples = added.busy_samples,
                   .length = added.end - added.begin,
                   .lost = losses.lost_samples + losses.lost_records});
  if (uses_.size() > options_.most_uses) uses_.pop_front();
  ++added_;
  kept.first = kept.last = ++last_number_;
  kept_bytes_ += kept.bytes;
  kept_.push_back(std::move(kept));
  const auto oldest = static_cast<uint64_t>(options_.kept.count());
  while (kept_.size() > 1 && (kept_bytes_ > options_.most_window_bytes ||
                              kept_.front().window->end + oldest <= kept_.back().window->end)) {
    if (kept_.front().first > summed_) AddToSum(kept_.front());
    kept_bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
  JoinOldWindows();
}

// Joins the windows of the latest second that is old enough, and adds old windows to the sum.
void History::JoinOldWindows() {
  constexpr auto kSecond = static_cast<uint64_t>(nanoseconds(std::chrono::seconds(1)).count());
  const uint64_t last = kept_.back().window->end;
  const uint64_t old = last - std::min(last, static_cast<uint64_t>(options_.fine.count()));
  const uint64_t end = old / kSecond * kSecond, begin = end - std::min(end, kSecond);
  const auto is_in = [&](const Kept& kept) {
    return kept.window->begin >= begin && kept.window->end <= end;
  };
  const auto first = std::find_if(kept_.begin(), kept_.end(), is_in);
  const auto behind = std::find_if_not(first, kept_.end(), is_in);
  if (behind - first >= 2) Join(first, behind);
  for (const Kept& kept : kept_) {
    if (kept.first > summed_ && kept.window->end <= end) AddToSum(kept);
  }
}

void History::Join(std::deque<Kept>::iterator first, std::deque<Kept>::iterator behind) {
  MergedProfile merged;
  Kept joined{{.first = first->first, .last = (behind - 1)->last}};
  Window window{.begin = first->window->begin, .end = (behind - 1)->window->end};
  for (auto kept = first; kept != behind; ++kept) {
    AddTo(*kept->window, &merged);
    window.left_out += kept->window->left_out;
    window.busy += kept->window->busy;
    window.busy_samples += kept->window->busy_samples;
    kept_bytes_ -= kept->bytes;
  }
  window.profile = std::move(merged).Take();
  CountChains(&window.profile);
  joined.bytes = MemoryOf(window.profile);
  joined.window = std::make_shared<const Window>(std::move(window));
  kept_bytes_ += joined.bytes;
  *first = std::move(joined);
  kept_.erase(first + 1, behind);
}

void History::Clear() {
  const std::lock_guard lock(mutex_);
  kept_.clear();
  ++last_number_;
  kept_bytes_ = 0;
  sum_ = MergedProfile();
  summed_ = last_number_;
  sum_left_out_ = {};
  sum_length_ = nanoseconds(0);
  sum_windows_ = 0;
  shortened_ = 0;
}

std::vector<NumberedWindow> History::Latest(Range range) const {
  const std::lock_guard lock(mutex_);
  const uint64_t last = kept_.empty() ? 0 : kept_.back().window->end;
  std::vector<NumberedWindow> windows;
  for (const Kept& kept : kept_) {
    if (!range || kept.window->begin + static_cast<uint64_t>(range->count()) >= last) {
      windows.push_back(kept);
    }
  }
  return windows;
}

Snapshot History::Get(Range range, Decay decay) const {
  MergedProfile merged;
  Snapshot snapshot;
  std::vector<NumberedWindow> windows;
  if (range) {
    windows = Latest(range);
  } else {
    const std::lock_guard lock(mutex_);
    merged.Add(sum_.profile());
    AddWarnings(sum_.profile().losses.warnings, &merged.losses());
    snapshot.left_out = sum_left_out_;
    snapshot.length = sum_length_;
    snapshot.windows = sum_windows_;
    snapshot.shortened = shortened_;
    snapshot.last = summed_;
    for (const Kept& kept : kept_) {
      if (kept.first > summed_) windows.push_back(kept);
    }
  }
  for (const NumberedWindow& kept : windows) {
    const Window& window = *kept.window;
    const uint64_t age = windows.back().window->end - window.end;
    const uint64_t factor =
        decay.count() == 0 ? 1 : FactorOf(age, window.length(), kept.parts(), decay);
    AddTo(window, &merged, factor);
    snapshot.left_out += Weighted(window.left_out, factor);
    snapshot.length += window.length();
    snapshot.windows += kept.parts();
    snapshot.last = kept.last;
  }
  snapshot.profile = std::move(merged).Take();
  if (decay.count() != 0) Unweight(&snapshot);
  CountChains(&snapshot.profile);
  return snapshot;
}

std::vector<Use> History::uses() const {
  const std::lock_guard lock(mutex_);
  return {uses_.begin(), uses_.end()};
}

uint64_t History::added() const {
  const std::lock_guard lock(mutex_);
  return added_;
}

}  // namespace profiler::live
