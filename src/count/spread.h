// The mean of repeated measurements, and how far off it may be by chance.

#pragma once

#include <cstddef>

namespace profiler::count {

// Welford's sums: one pass, no cancellation.
class Spread {
 public:
  void Add(double value) {
    ++count_;
    const double distance = value - mean_;
    mean_ += distance / static_cast<double>(count_);
    squares_ += distance * (value - mean_);
  }

  size_t count() const { return count_; }
  double mean() const { return mean_; }
  // Half the width of the interval that holds the true mean in 95 of 100 cases (Student's t); 0 for
  // less than two values.
  double margin() const;

 private:
  size_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // of distances from the mean
};

}  // namespace profiler::count
