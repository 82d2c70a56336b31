// A sender of batches of windows to a receiver of OpenTelemetry profiles: the Collector, Pyroscope,
// and others. A batch is one ExportProfilesServiceRequest (src/format/otlp/request.h), gzipped:
//
//   resource    a service on a host, in a container and pod:
//               service.name, host.name, container.id, k8s.pod.uid, and the host's labels
//   profile     two per window and event: samples/count and EVENT/nanoseconds (or EVENT/count)
//               (src/format/otlp/event_types.h), with the window's time and length
//   sample      one per row, with the program and its build-id
//   location    a function in an image, with its language, and the functions inlined into it
//   mapping     an image with a build-id; for other files, the location's attribute
//               process.executable.path has the file's name
//
// The protocol cannot detect repeated batches: a batch counts twice if its answer is lost. The ids
// of profiles are derived from their contents, so that a receiver can detect repetitions.
//
// Source: the OTLP specification 1.11, "OTLP/HTTP": statuses, Retry-After, partial success.

#pragma once

#include <memory>
#include <span>
#include <string>

#include "src/fleet/push/destination.h"
#include "src/fleet/push/sender.h"
#include "src/fleet/segments/window.h"
#include "src/http/http_client.h"

namespace profiler::fleet {

std::unique_ptr<Sender> OtlpSender(const Destination& destination,
                                   std::unique_ptr<http::Client> client);

// Returns the request, not compressed. Equal windows yield equal bytes. Takes time linear in the
// windows' tables. Thread-safe.
std::string OtlpRequest(std::span<const Window> windows);

}  // namespace profiler::fleet
