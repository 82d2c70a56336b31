#include "src/analysis/estimate/students_t.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace profiler::estimate {
namespace {

boost::math::students_t Distribution(double freedom) {
  return boost::math::students_t(std::min(freedom, kMostFreedom));
}

}  // namespace

double ChanceBeyond(double t, double freedom) {
  if (!std::isfinite(t)) return 0;
  return 2 * boost::math::cdf(boost::math::complement(Distribution(freedom), std::abs(t)));
}

double ErrorsExceeded(double freedom, double chance) {
  return boost::math::quantile(boost::math::complement(Distribution(freedom), chance));
}

double HalfWidth95(double error, double freedom) { return error * ErrorsExceeded(freedom, 0.025); }

}  // namespace profiler::estimate
