// The sum of the windows of a time, for a view that is refreshed often.
//
//   History ─▶ new windows ─▶ prepared ─▶ added ┐
//              old windows ─────▶ subtracted ───┴─▶ one Profile, and the changes of its rows
//
// A refresh costs as much as the new windows and those that leave the time. Now and then the sum is
// made again from all windows, because rows and stacks of subtracted windows stay in its tables.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "src/live/history.h"
#include "src/live/merged_profile.h"
#include "src/profile/profile.h"
#include "src/profile/row_change.h"
#include "symbolize/unwind/chain_quality.h"

namespace profiler::live {

struct RunningOptions {
  Range range;
  Decay decay{0};
  // Prepares a profile for the view; null: profiles are shown as they are.
  std::function<profile::Profile(profile::Profile)> prepare;
  // True if a prepared sum of windows is the sum of prepared windows. Otherwise, and with a decay,
  // each refresh makes the sum again.
  bool adds_up = true;
  // Number of rows that may be added before the sum is made again.
  size_t most_new_rows = 50'000;
  // Bytes that may be added to the tables before the sum is made again.
  size_t most_new_bytes = size_t{32} << 20;
};

// Use it from one thread. Call Refresh first.
class RunningSum {
 public:
  using Changes = std::vector<profile::RowChange>;

  // `history` must outlive it.
  RunningSum(const History& history, RunningOptions options)
      : history_(history),
        options_(std::move(options)),
        adds_up_(options_.adds_up && options_.decay.count() == 0) {}

  // Takes over the present windows. Returns the changes of the profile's rows, which the rows
  // already have; nothing if profile() is a new profile.
  std::optional<Changes> Refresh();

  // Returns the sum. A profile changes until profile() returns another one.
  std::shared_ptr<const profile::Profile> profile() const { return profile_; }
  const LeftOut& left_out() const { return left_out_; }
  std::chrono::nanoseconds length() const { return length_; }
  double shortened() const { return shortened_; }

 private:
  // A window that will be subtracted.
  struct Part {
    uint64_t first = 0;  // number of the window (NumberedWindow)
    MergedChanges changes;
    LeftOut left_out;
    std::chrono::nanoseconds length{0};
    profile::Losses losses;
    ChainQuality chains;
  };

  bool IsTooLarge() const;
  void MakeAgain();
  void TakeSnapshot();
  void Add(const NumberedWindow& added, Changes* changes);
  void SubtractFirst(Changes* changes);

  const History& history_;
  const RunningOptions options_;
  const bool adds_up_;
  std::shared_ptr<MergedProfile> sum_;
  std::shared_ptr<const profile::Profile> profile_;  // that of sum_, if windows add up
  std::deque<Part> parts_;                           // empty if all windows are shown
  LeftOut left_out_;
  std::chrono::nanoseconds length_{0};
  double shortened_ = 0;
  uint64_t last_ = 0;                      // number of the latest window in the sum
  size_t rows_then_ = 0, bytes_then_ = 0;  // of the sum, when it was made
};

}  // namespace profiler::live
