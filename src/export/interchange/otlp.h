// A profile as OpenTelemetry has it: one ExportProfilesServiceRequest (src/otlp/request.h).
//
//   resource_profiles ─ scope_profiles ─ profile   of each event two:
//                                          samples/count     with the times of the samples
//                                          EVENT/nanoseconds (or EVENT/count): periods
//   dictionary         mappings, locations (one a frame), functions, stacks, strings, attributes;
//                      the first of each is the empty one
//
// Attributes of samples: process.pid, thread.id, thread.name; of mappings: the build-id; of
// locations: whether it is the kernel's code.

#pragma once

#include <string>

#include "src/export/interchange/origin.h"
#include "src/profile/profile.h"

namespace profiler::exports {

// Not compressed. Linear in rows and in the frames of distinct stacks. Thread-safe.
std::string Otlp(const profile::Profile& profile, const Origin& origin);

}  // namespace profiler::exports
