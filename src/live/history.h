// The windows of a live recording that are still needed: the last minute, and the sum of all.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "src/live/window_maker.h"
#include "src/profile/profile.h"

namespace profiler::live {

// A choice of windows: the latest ones that cover this time; nothing: all since the beginning.
using Range = std::optional<std::chrono::nanoseconds>;

// Time in which a sample loses an eighth of its weight; zero: samples keep their weight. perf top
// takes an eighth off at each refresh (tools/perf/ui/hist.c and util/hist.c, Linux 6.12).
using Decay = std::chrono::nanoseconds;

// The sum of some windows, and facts about them.
struct Snapshot {
  profile::Profile profile;
  LeftOut left_out;
  // Time that the windows cover, which may be up to a second less than requested.
  std::chrono::nanoseconds length{0};
  size_t windows = 0;
  uint64_t last = 0;  // number of the latest window; 0: none
  // Part of the weight, from 0 to 1, whose callers were dropped to bound memory.
  double shortened = 0;
};

// A window, and the numbers of the first and the last added window of which it consists. Numbers
// begin with 1, and skip one when the history is cleared.
struct NumberedWindow {
  std::shared_ptr<const Window> window;
  uint64_t first = 0, last = 0;

  size_t parts() const { return last - first + 1; }
};

// How busy the machine was in one window.
struct Use {
  uint64_t end = 0;                     // CLOCK_MONOTONIC, ns
  uint64_t busy = 0, busy_samples = 0;  // as in Window
  uint64_t length = 0;                  // ns
  uint64_t lost = 0;                    // lost samples and records
};

struct HistoryOptions {
  std::chrono::nanoseconds kept{std::chrono::seconds(60)};  // windows older than this are dropped
  size_t most_window_bytes = size_t{64} << 20;              // or when they take more memory
  size_t most_sum_bytes = size_t{64} << 20;                 // limit for the sum of all windows
  size_t most_uses = 600;
  // Older windows of one second are joined, so that a snapshot adds up few windows even if they are
  // short.
  std::chrono::nanoseconds fine{std::chrono::seconds(2)};
};

// Thread-safe. Snapshots are copies.
class History {
 public:
  explicit History(HistoryOptions options = {}) : options_(options) {}

  void Add(Window window);
  // Forgets all windows.
  void Clear();
  // With `decay`, `range` must be a time, and older windows count less. Numbers of samples are then
  // weighted, too.
  Snapshot Get(Range range, Decay decay = Decay(0)) const;
  // Returns the windows of `range`, the oldest first; with no time, all that are kept.
  std::vector<NumberedWindow> Latest(Range range) const;
  // Returns the use of each window, the oldest first.
  std::vector<Use> uses() const;
  // Returns the number of windows added so far, so that callers see if something is new.
  uint64_t added() const;

 private:
  struct Kept : NumberedWindow {
    size_t bytes = 0;
  };

  void AddToSum(const NumberedWindow& added);
  void JoinOldWindows();
  void Join(std::deque<Kept>::iterator first, std::deque<Kept>::iterator behind);

  const HistoryOptions options_;
  mutable std::mutex mutex_;
  // mutex_ guards all members below.
  std::deque<Kept> kept_;
  size_t kept_bytes_ = 0;
  // The sum of all windows up to that number. Later windows are added after they were joined.
  MergedProfile sum_;
  uint64_t summed_ = 0;
  LeftOut sum_left_out_;
  std::chrono::nanoseconds sum_length_{0};
  size_t sum_windows_ = 0;
  double shortened_ = 0;
  std::deque<Use> uses_;
  uint64_t added_ = 0;
  uint64_t last_number_ = 0;  // NumberedWindow
};

}  // namespace profiler::live
