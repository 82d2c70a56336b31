// An HTTP server that answers GET /metrics.
//
// On a loopback address, every user of the machine can send requests. The answer contains only
// metrics of the agent, nothing that was recorded. The server refuses requests other than GET and
// HEAD of "/metrics". On a loopback address it also refuses requests whose header Host has another
// name, because a web site could resolve its own name to this machine (DNS rebinding).

#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace profiler::agent {

// The address to listen on: "127.0.0.1:9099", "[::1]:9099", or ":9099", which means 127.0.0.1.
struct ListenAddress {
  std::string host = "127.0.0.1";  // an IP address, not a name
  uint16_t port = 9099;
};
// Parses an address. Returns kInvalidArgument, which says what is expected, if it is malformed.
absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text);
// True if other machines can reach the address.
bool IsForOthers(const ListenAddress& address);

// The server. Not thread-safe: everything runs on the thread of the io_context.
class MetricsServer {
 public:
  // Makes a server. It accepts connections once the io_context runs; the io_context must outlive
  // the server. Calls `text` for each answer. Port 0 means any free port. Returns kUnavailable if
  // the server cannot listen on `address`.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Listen(boost::asio::io_context& context,
                                                               const ListenAddress& address,
                                                               std::function<std::string()> text);
  ~MetricsServer();

  uint16_t port() const;

 private:
  class Impl;
  explicit MetricsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace profiler::agent
