// Answers requests over HTTP: one a connection, then it is closed. What is asked and answered is
// the owner's affair; that who connects and says nothing, too much, or what is no HTTP costs little
// is seen to here.
//
// Not thread-safe: all runs on the threads of the io_context, of which there must be one.

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

// A request as far as it matters. Valid during the call that gets it.
struct HttpRequest {
  std::string_view method, target, host;
};

struct HttpAnswer {
  unsigned status = 200;
  std::vector<std::pair<std::string_view, std::string_view>> headers;  // names and constant texts
  std::shared_ptr<const std::string> body;  // never null; of HEAD its size alone is sent
};

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // no name
  uint16_t port = 0;                  // 0: one that is free
  bool may_reuse_address = false;     // of a server that has ended just now (SO_REUSEADDR)
  std::chrono::seconds patience{30};  // with who connects and says nothing
  // At one time. One more takes the place of the oldest that has not asked yet; if all have, it is
  // closed.
  size_t most_connections = 64;
};

class HttpServer {
 public:
  // Accepts once the io_context runs, which must outlive this. Errors: kUnavailable, "cannot listen
  // there: …".
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
