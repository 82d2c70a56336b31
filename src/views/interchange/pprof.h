// A profile in pprof's format (google/pprof, proto/profile.proto), gzipped, for `go tool pprof`,
// Speedscope, Pyroscope, Parca, Polar Signals and others.
//
//   Profile
//    ├─ sample_type   samples/count and EVENT/nanoseconds (or EVENT/count); for several events,
//    │                EVENT_samples/count and EVENT/… per event, in the order of events
//    ├─ sample        one per thread and stack: {location_id leaf first, one value per type,
//    │                labels pid, tid (numbers), thread, comm (the process)}
//    ├─ mapping       one per image, with its build-id (image_places.h)
//    ├─ location      one per frame: address, and its functions, innermost first
//    └─ function      name and file
//
// The values of a type add up to the event's total. An event without periods has only the type of
// its samples.

#pragma once

#include <string>

#include "src/profile/profile.h"
#include "src/views/interchange/origin.h"

namespace profiler::exports {

// Returns the file. Takes time linear in rows and in the frames of distinct stacks. Thread-safe.
std::string Pprof(const profile::Profile& profile, const Origin& origin);

}  // namespace profiler::exports
