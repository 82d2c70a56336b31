// Student's distribution: how far off a mean is whose variance is itself known from few values
// only.
//
// Pure functions; thread-safe.

#pragma once

namespace profiler::estimate {

// Of a variance that is known for sure, as far as chance goes.
inline constexpr double kMostFreedom = 1e6;

// That chance moves something by `t` standard errors or more, to either side.
double ChanceBeyond(double t, double freedom);

// The number of standard errors that chance exceeds on one side with this chance.
double ErrorsExceeded(double freedom, double chance);

// Half the 95 % interval of what has this standard error.
double HalfWidth95(double error, double freedom);

}  // namespace profiler::estimate
