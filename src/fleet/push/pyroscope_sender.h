// A sender of windows to Pyroscope's /ingest. It sends one request for each service, pod and event
// of a window:
//
//   POST /ingest?name=web.cpu{service_name=web,host=h1,event=cpu-clock,region=eu}
//               &from=1764115200&until=1764115210&units=samples&sampleRate=1000000000
//               &aggregationType=sum&spyName=profiler&format=folded
//
//   nginx;main;poll 300      folded stacks; or a pprof profile, with ?format=pprof in the
//                            destination
//
// The server divides numbers by the rate to get times. Numbers of clocks are sent in nanoseconds,
// so that times do not depend on the sampling rate of a machine. Numbers of other events are
// samples, with the window's rate.
//
// The end of the name says what was measured: "cpu", or "wall" for off-CPU time. The label
// service_name holds the service's name, without the characters that end a label (',', '}').
//
// The server cannot detect repeated requests. If a window is repeated, this object continues after
// the last request that was answered. A request counts twice if its answer is lost. The requests of
// a window count twice if the process is killed while it sends them.
//
// Source: Pyroscope's "Server HTTP API", and how its pkg/ingester/pyroscope reads names (2026).

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/fleet/push/destination.h"
#include "src/fleet/push/sender.h"
#include "src/fleet/segments/window.h"
#include "src/http/http_client.h"

namespace profiler::fleet {

std::unique_ptr<Sender> PyroscopeSender(const Destination& destination,
                                        std::unique_ptr<http::Client> client);

enum class PyroscopeFormat : bool { kFolded, kPprof };

// Returns the requests for a window, in the order of its tables. Equal windows yield equal
// requests. `url` is the URL of the server.
std::vector<http::Request> PyroscopeRequests(const Window& window, std::string_view url,
                                             PyroscopeFormat format);

}  // namespace profiler::fleet
