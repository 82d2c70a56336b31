// A profile in OpenTelemetry's format: one ExportProfilesServiceRequest
// (src/format/otlp/request.h).
//
//   resource_profiles   one per program, the one with most samples first:
//                         service.name "unknown_service:PROGRAM", as the conventions require
//    └─ scope_profiles ─ profile   two per event:
//                                    samples/count     with the times of the samples
//                                    EVENT/nanoseconds (or EVENT/count): periods
//   dictionary          only entries that samples refer to
//
//   on the CPU          cpu/nanoseconds, for any clock
//   off the CPU         off_cpu/nanoseconds; the samples are context switches
//
// If the name of a type differs from the event's name, the profile's attribute perf.event.name has
// the event's name.
//
// Attributes of samples: process.pid, thread.id, thread.name; of mappings: the build-id; of
// locations: profile.frame.type. A mapping must have a build-id. So the locations of a file without
// a build-id have no mapping; their attribute process.executable.path is the file's name.
//
// Sources: opentelemetry-proto 1.11.0; OpenTelemetry's specification of profiles and semantic
// conventions 1.44; the types and periods that Pyroscope accepts: pkg/ingester/otlp/convert.go.

#pragma once

#include <string>

#include "src/profile/profile.h"
#include "src/views/interchange/origin.h"

namespace profiler::exports {

// Returns the request, not compressed. Takes time linear in rows and in the frames of distinct
// stacks. Thread-safe if Origin::htlhash_of is.
std::string Otlp(const profile::Profile& profile, const Origin& origin);

}  // namespace profiler::exports
