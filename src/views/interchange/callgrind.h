// A profile in callgrind's format (valgrind.org/docs/manual/cl-format.html), for KCachegrind,
// QCachegrind and callgrind_annotate.
//
//   events: cpu_clock cpu_clock_samples       two per event: sum of periods, and samples
//
//   ob=(1) /usr/bin/app                       image, file and function;
//   fl=(1) main.c
//   fn=(1) main
//   12 1000000 1                              own cost of main in line 12
//   cfn=(2) work                              main calls work;
//   calls=3 0                                 3 samples contain the call;
//   14 3000000 3                              line of the call, and its cost
//
// A function's own cost and the cost of its calls add up to its total, also for recursive
// functions: if a function is on a sample's stack several times, only the call made by its
// innermost frame counts.

#pragma once

#include <string>

#include "src/profile/profile.h"
#include "src/views/interchange/origin.h"

namespace profiler::exports {

// Returns the file. Takes time linear in rows and in the frames of distinct stacks. Thread-safe.
std::string Callgrind(const profile::Profile& profile, const Origin& origin);

}  // namespace profiler::exports
