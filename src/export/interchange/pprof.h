// A profile as pprof has it (google/pprof, proto/profile.proto), gzipped, for `go tool pprof`,
// Speedscope, Pyroscope, Parca, Polar Signals and others.
//
//   Profile
//    ├─ sample_type   samples/count and EVENT/nanoseconds (or EVENT/count); of several events
//    │                EVENT_samples/count and EVENT/… for each, the first event's in front
//    ├─ sample        one for each thread and stack: {location_id leaf first, a value a type,
//    │                labels pid, tid (numbers), thread, comm (the process)}
//    ├─ mapping       one an image, with its build-id (image_places.h)
//    ├─ location      one a frame: address, and its functions, innermost first
//    └─ function      name and file
//
// The values of a type add up to the event's total. Samples whose event has no periods have
// samples alone.

#pragma once

#include <string>

#include "src/export/interchange/origin.h"
#include "src/profile/profile.h"

namespace profiler::exports {

// Linear in rows and in the frames of distinct stacks. Thread-safe.
std::string Pprof(const profile::Profile& profile, const Origin& origin);

}  // namespace profiler::exports
