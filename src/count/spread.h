// The mean of repeated measurements and its margin of error.

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
  // Returns half the width of the 95 % interval of the true mean (Student's t); 0 for fewer than
  // two values.
  double margin() const;

 private:
  size_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of the squared distances from the mean
};

}  // namespace profiler::count
