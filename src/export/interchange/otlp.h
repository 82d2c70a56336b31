// A profile as OpenTelemetry has it: one ExportProfilesServiceRequest (src/otlp/request.h).
//
//   resource_profiles   each program, the one with most samples first:
//                         service.name "unknown_service:PROGRAM", as the conventions require
//    └─ scope_profiles ─ profile   of each event two:
//                                    samples/count     with the times of the samples
//                                    EVENT/nanoseconds (or EVENT/count): periods
//   dictionary          only what samples refer to
//
//   on the CPU          cpu/nanoseconds, whichever clock it was
//   off the CPU         off_cpu/nanoseconds; the samples are context switches
//
// If a type has another name than its event, the profile's attribute perf.event.name is the
// event's.
//
// Attributes of samples: process.pid, thread.id, thread.name; of mappings: the build-id; of
// locations: profile.frame.type. A mapping must have a build-id. The locations of a file that has
// none have no mapping; their attribute process.executable.path names it.
//
// Sources: opentelemetry-proto 1.11.0; OpenTelemetry's specification of profiles and semantic
// conventions 1.44; which types and periods Pyroscope takes: its pkg/ingester/otlp/convert.go.

#pragma once

#include <string>

#include "src/export/interchange/origin.h"
#include "src/profile/profile.h"

namespace profiler::exports {

// Not compressed. Linear in rows and in the frames of distinct stacks. Thread-safe if
// Origin::htlhash_of is.
std::string Otlp(const profile::Profile& profile, const Origin& origin);

}  // namespace profiler::exports
