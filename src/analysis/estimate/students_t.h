// Student's distribution: the error of a mean whose variance is itself estimated from a few values.
//
// The functions are pure and thread-safe.

#pragma once

namespace profiler::estimate {

// Stands for infinitely many degrees of freedom: a variance that is known exactly.
inline constexpr double kMostFreedom = 1e6;

// Returns the probability that noise moves a value by `t` standard errors or more, to either side.
double ChanceBeyond(double t, double freedom);

// Returns the number of standard errors that noise exceeds on one side with probability `chance`.
double ErrorsExceeded(double freedom, double chance);

// Returns half the width of the 95 % interval of a value with this standard error.
double HalfWidth95(double error, double freedom);

}  // namespace profiler::estimate
