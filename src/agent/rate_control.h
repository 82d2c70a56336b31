// How often to sample, so that the agent takes no more of the machine than it may.
//
//   share of the machine     ┌── too much three times in a row: the next lower rate that fits
//   of each window ──────────┤
//                            └── a fifth below for five minutes: the next higher one, if what that
//                                will take fits as well
//
// What it takes is not in proportion to the rate: part of it is there at any. So a lower rate is
// chosen as if it were, and the next windows tell. Each change ends a session of recording and
// begins another, which costs more than some windows: hence the patience. Pure.

#pragma once

#include <cstdint>
#include <vector>

namespace profiler::agent {

struct RateBounds {
  uint64_t least = 19, most = 99;  // Hz
  uint64_t first = 49;             // to begin with, in these bounds
};

// Not thread-safe.
class RateControl {
 public:
  // `budget`: the share of all CPUs together, from 0 to 1.
  RateControl(const RateBounds& bounds, double budget);

  uint64_t frequency() const { return steps_[step_]; }
  // Whether it takes too much at the lowest rate still, as of late.
  bool is_over_budget() const { return step_ == 0 && windows_over_ >= kPatience; }

  // What share of the machine it took during a window. Whether the rate is another one now.
  bool Took(double share);

 private:
  static constexpr int kPatience = 3;
  static constexpr int kPatienceToRise = 30;
  static constexpr double kMargin = 0.8;  // of the budget, to rise

  bool Fall(double share);
  bool Rise(double share);

  std::vector<uint64_t> steps_;
  size_t step_ = 0;
  const double budget_;
  int windows_over_ = 0, windows_below_ = 0;  // in a row
  double sum_ = 0;                            // of their shares
};

}  // namespace profiler::agent
