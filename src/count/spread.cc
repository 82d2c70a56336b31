#include "src/count/spread.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace profiler::count {

double Spread::margin() const {
  if (count_ < 2) return 0;
  constexpr double kUpperTail = 0.975;
  const auto freedom = static_cast<double>(count_ - 1);
  const double deviation = std::sqrt(squares_ / freedom / static_cast<double>(count_));
  return boost::math::quantile(boost::math::students_t(freedom), kUpperTail) * deviation;
}

}  // namespace profiler::count
