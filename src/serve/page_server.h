// One page over HTTP, for a browser on this machine and nobody else.
//
//   http://127.0.0.1:PORT/TOKEN/
//
// Every user of the machine can connect to the port, and every site that the browser visits can
// send requests there. So the address has a random token of 128 bits, without which nothing is
// served, and a request must name this address as its Host: a site that makes its own name lead
// here (DNS rebinding) names another. Answers tell the browser to load nothing from elsewhere, and
// to keep no copy.
//
// Not thread-safe: all runs on the threads of the io_context, of which there must be one.

#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/serve/http_server.h"

namespace profiler::serve {

// What a request gets.
enum class Answer : uint8_t {
  kPage,
  kPageHead,      // for HEAD: all but the page
  kNotFound,      // 404: the token is missing or wrong
  kWrongHost,     // 403
  kNotSupported,  // 405: neither GET nor HEAD
};

// What to answer on a server with that token and port.
Answer AnswerTo(const HttpRequest& request, std::string_view token, uint16_t port);

class PageServer {
 public:
  // Listens on 127.0.0.1, at a port that is free where `port` is 0, and accepts once the io_context
  // runs. `page` is UTF-8 HTML. The io_context must outlive the server. Errors: kUnavailable where
  // nothing can listen there.
  static absl::StatusOr<std::unique_ptr<PageServer>> Listen(boost::asio::io_context& context,
                                                            std::string page, uint16_t port);
  ~PageServer();

  // "http://127.0.0.1:40123/3f…/"
  std::string address() const;
  // How often the page was given out.
  uint64_t served() const;

 private:
  class Impl;
  explicit PageServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace profiler::serve
