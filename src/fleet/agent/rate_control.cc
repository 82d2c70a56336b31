#include "src/fleet/agent/rate_control.h"

#include <algorithm>
#include <cstddef>

namespace profiler::agent {
namespace {

// Rates in Hz. Each rate is about a quarter larger than the previous one. No rate is in step with a
// clock of 10, 100 or 250 Hz.
constexpr uint64_t kRates[] = {1,  3,  7,  11,  15,  19,  23,  29,  37,  49,
                               61, 79, 99, 127, 157, 199, 251, 317, 397, 499};

}  // namespace

RateControl::RateControl(const RateBounds& bounds, double budget) : budget_(budget) {
  steps_ = {bounds.least, bounds.first, bounds.most};
  for (const uint64_t rate : kRates) {
    if (rate > bounds.least && rate < bounds.most) steps_.push_back(rate);
  }
  std::ranges::sort(steps_);
  const auto repeated = std::ranges::unique(steps_);
  steps_.erase(repeated.begin(), repeated.end());
  step_ = static_cast<size_t>(std::ranges::find(steps_, bounds.first) - steps_.begin());
}

bool RateControl::Took(double share) {
  const bool is_over = share > budget_, is_below = share < budget_ * kMargin;
  if ((is_over && windows_over_ == 0) || (is_below && windows_below_ == 0)) sum_ = 0;
  windows_over_ = is_over ? windows_over_ + 1 : 0;
  windows_below_ = is_below ? windows_below_ + 1 : 0;
  sum_ += share;
  if (windows_over_ >= kPatience) return Fall(sum_ / windows_over_);
  if (windows_below_ >= kPatienceToRise) return Rise(sum_ / windows_below_);
  return false;
}

bool RateControl::Fall(double share) {
  if (step_ == 0) return false;
  const auto fitting = static_cast<double>(frequency()) * budget_ / share;
  do {
    --step_;
  } while (step_ > 0 && static_cast<double>(frequency()) > fitting);
  windows_over_ = windows_below_ = 0;
  return true;
}

// Chooses the next higher rate if its expected share fits the budget. Otherwise keeps the rate, and
// tries again after the same number of windows.
bool RateControl::Rise(double share) {
  windows_below_ = 0;
  if (step_ + 1 == steps_.size()) return false;
  const double growth = static_cast<double>(steps_[step_ + 1]) / static_cast<double>(steps_[step_]);
  if (share * growth > budget_ * kMargin) return false;
  ++step_;
  return true;
}

}  // namespace profiler::agent
