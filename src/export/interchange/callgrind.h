// A profile as callgrind has it (valgrind.org/docs/manual/cl-format.html), for KCachegrind,
// QCachegrind and callgrind_annotate.
//
//   events: cpu_clock cpu_clock_samples       of each event its periods, then its samples
//
//   ob=(1) /usr/bin/app                       image, file and function;
//   fl=(1) main.c
//   fn=(1) main
//   12 1000000 1                              what was spent there itself, by line
//   cfn=(2) work                              what was spent in a function called from there,
//   calls=3 0                                 by the line of the call: so many samples had the call
//   14 3000000 3
//
// A function's own cost and that of its calls add up to what it has in all, also where it calls
// itself: in each sample, of a function that is on the stack more than once the innermost
// one's call counts.

#pragma once

#include <string>

#include "src/export/interchange/origin.h"
#include "src/profile/profile.h"

namespace profiler::exports {

// Linear in rows and in the frames of distinct stacks. Thread-safe.
std::string Callgrind(const profile::Profile& profile, const Origin& origin);

}  // namespace profiler::exports
