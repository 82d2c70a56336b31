// An HTTP server that answers one request per connection and then closes it.
//
// The owner decides what to answer. The server itself limits the cost of clients that send nothing,
// too much, or something other than HTTP.
//
// Not thread-safe: everything runs on the thread of the io_context; exactly one thread may run it.

#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"

namespace profiler::serve {

// The parts of a request that matter here. Valid during the call that receives it.
struct HttpRequest {
  std::string_view method, target, host;
};

struct HttpAnswer {
  unsigned status = 200;
  // Names and values; they must be string constants.
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  std::shared_ptr<const std::string> body;  // never null; HEAD sends only its size
};

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // an IP address, not a name
  uint16_t port = 0;                  // 0: any free port
  bool may_reuse_address = false;     // SO_REUSEADDR: succeeds right after another server ended
  std::chrono::seconds patience{30};  // time for a new connection to send its request
  // Limit of open connections. When one more comes, the server closes the oldest connection that
  // has not sent its request yet. If all have sent their requests, the server closes the new
  // connection.
  size_t most_connections = 64;
};

class HttpServer {
 public:
  // Accepts connections once the io_context runs, which must outlive the server. Errors:
  // kUnavailable, "cannot listen there: …".
  static absl::StatusOr<std::unique_ptr<HttpServer>> Listen(
      boost::asio::io_context& context, const HttpServerOptions& options,
      std::function<HttpAnswer(const HttpRequest&)> answer);
  ~HttpServer();

  uint16_t port() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace profiler::serve
