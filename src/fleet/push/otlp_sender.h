// Takes batches of windows to a receiver of OpenTelemetry's profiles: the Collector, Pyroscope, and
// others. A batch is one ExportProfilesServiceRequest (src/otlp/request.h), gzipped:
//
//   resource    a host's service, in a container, of a pod:
//               service.name, host.name, container.id, k8s.pod.uid, and the host's labels
//   profile     of a window and an event two: samples/count and EVENT/nanoseconds (or EVENT/count)
//               (src/otlp/event_types.h), with the window's time and length
//   sample      a row, with the program and its build-id
//   location    a function in an image, with its language, and those that are inlined into it
//   mapping     an image with a build-id; process.executable.path names one without
//
// The protocol knows no batch that was sent before: one whose answer got lost counts twice. The ids
// of profiles follow from what they are of, so that a receiver may tell.
//
// Source: the OTLP specification 1.11, "OTLP/HTTP": statuses, Retry-After, partial success.

#pragma once

#include <memory>
#include <span>
#include <string>

#include "src/fleet/push/destination.h"
#include "src/fleet/push/sender.h"
#include "src/fleet/window.h"
#include "src/http/http_client.h"

namespace profiler::fleet {

std::unique_ptr<Sender> OtlpSender(const Destination& destination,
                                   std::unique_ptr<http::Client> client);

// Not compressed. The same windows are the same bytes. Linear in their tables. Thread-safe.
std::string OtlpRequest(std::span<const Window> windows);

}  // namespace profiler::fleet
