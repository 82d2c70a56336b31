// Takes windows to Pyroscope, by its /ingest: a request for each service, pod and event of a
// window.
//
//   POST /ingest?name=web.cpu{service_name=web,host=h1,event=cpu-clock,region=eu}
//               &from=1764115200&until=1764115210&units=samples&sampleRate=1000000000
//               &aggregationType=sum&spyName=profiler&format=folded
//
//   nginx;main;poll 300      folded stacks; or, with ?format=pprof in the destination, a profile of
//                            pprof's
//
// The server makes times of numbers by the rate. Of clocks the numbers are nanoseconds, so that
// times are right whatever rate a machine was recorded at; of other events they are samples, with
// the window's rate.
//
// It tells by the ending of the name what is measured: "cpu", or "wall" of time off the CPU. A
// service may be called as it likes: the label service_name has its name, less what would end a
// label (',', '}').
//
// The server knows no request that was sent before. While this object lives, a window that is sent
// again goes on behind the last request that was answered; a request whose answer got lost counts
// twice, and so do those of the window at which a process was killed.
//
// Source: Pyroscope's "Server HTTP API", and how its pkg/ingester/pyroscope reads names (2026).

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/fleet/push/destination.h"
#include "src/fleet/push/sender.h"
#include "src/fleet/window.h"
#include "src/http/http_client.h"

namespace profiler::fleet {

std::unique_ptr<Sender> PyroscopeSender(const Destination& destination,
                                        std::unique_ptr<http::Client> client);

enum class PyroscopeFormat : bool { kFolded, kPprof };

// In the order of the window's tables; the same for the same window. `url`: of the server.
std::vector<http::Request> PyroscopeRequests(const Window& window, std::string_view url,
                                             PyroscopeFormat format);

}  // namespace profiler::fleet
