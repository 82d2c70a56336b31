// Answers GET /metrics over HTTP, for a collector on this machine.
//
// Every user of the machine can ask where it listens on loopback, and gets figures of the agent
// alone: nothing of what was recorded. Other requests than GET and HEAD of "/metrics" are refused,
// and so is one whose Host is a name other than that of this address, where it is loopback: a site
// that a browser visits could lead its own name here (DNS rebinding).

#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace profiler::agent {

// Where it listens. "127.0.0.1:9099", "[::1]:9099" or ":9099", which is that of 127.0.0.1.
struct ListenAddress {
  std::string host = "127.0.0.1";  // an address, no name
  uint16_t port = 9099;
};
// kInvalidArgument says what it should be.
absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text);
// Whether others than this machine can reach it.
bool IsForOthers(const ListenAddress& address);

// Not thread-safe: all runs on the thread of the io_context.
class MetricsServer {
 public:
  // Accepts once the io_context runs, which must outlive this. `text` is called for each answer.
  // Port 0 is one that is free. Errors: kUnavailable where nothing can listen there.
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
