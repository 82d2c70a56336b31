// The sampling frequency that keeps the agent's CPU use within its budget.
//
//   share of the machine     ┌── over the budget 3 times in a row: the next lower rate that fits
//   in each window ──────────┤
//                            └── a fifth below it for 30 windows: the next higher rate, if its
//                                expected share also fits
//
// The calculation assumes that the agent's CPU use is proportional to the rate. In fact, a part of
// the use is constant; the next windows correct the choice. The rate changes only after many
// windows, because each change begins a new session, which costs more than several windows.
// Performs no I/O.

#pragma once

#include <cstdint>
#include <vector>

namespace profiler::agent {

struct RateBounds {
  uint64_t least = 19, most = 99;  // Hz
  uint64_t first = 49;             // the initial rate, within the bounds
};

// The control of the rate. Not thread-safe.
class RateControl {
 public:
  // `budget` is a share of all CPUs together, from 0 to 1.
  RateControl(const RateBounds& bounds, double budget);

  uint64_t frequency() const { return steps_[step_]; }
  // True if recent windows exceeded the budget even at the lowest rate.
  bool is_over_budget() const { return step_ == 0 && windows_over_ >= kPatience; }

  // Adds the share of the machine that a window took. Returns true if the rate changed.
  bool Took(double share);

 private:
  static constexpr int kPatience = 3;
  static constexpr int kPatienceToRise = 30;
  static constexpr double kMargin = 0.8;  // part of the budget; below it the rate may rise

  bool Fall(double share);
  bool Rise(double share);

  std::vector<uint64_t> steps_;
  size_t step_ = 0;
  const double budget_;
  // Numbers of the last windows in a row over the budget, and below kMargin of it.
  int windows_over_ = 0, windows_below_ = 0;
  double sum_ = 0;  // sum of the shares of the windows in that row
};

}  // namespace profiler::agent
