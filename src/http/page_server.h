// One page over HTTP, for a browser of the same user on this machine.
//
//   http://127.0.0.1:PORT/TOKEN/
//
// Every user of the machine can connect to the port, and every site that the browser visits can
// send requests to it. So the address contains a random token of 128 bits, without which nothing is
// served. A request must also name this address as its Host. Requests of a site that resolves its
// own name to this machine (DNS rebinding) have another Host. The answers tell the browser to load
// nothing from other addresses, and to keep no copy.
//
// Not thread-safe: everything runs on the thread of the io_context; exactly one thread may run it.

#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/http/http_server.h"

namespace profiler::serve {

// The answer to a request.
enum class Answer : uint8_t {
  kPage,
  kPageHead,      // for HEAD: the headers without the page
  kNotFound,      // 404: the token is missing or wrong
  kWrongHost,     // 403: the Host is not this server's address
  kNotSupported,  // 405: neither GET nor HEAD
};

// Returns the answer that a server with this token and port gives to the request.
Answer AnswerTo(const HttpRequest& request, std::string_view token, uint16_t port);

class PageServer {
 public:
  // Listens on 127.0.0.1 at `port`; 0: at a free port. Accepts connections once `context` runs.
  // `context` must outlive the server. `page` is UTF-8 HTML. Errors: kUnavailable if nothing can
  // listen there.
  static absl::StatusOr<std::unique_ptr<PageServer>> Listen(boost::asio::io_context& context,
                                                            std::string page, uint16_t port);
  ~PageServer();

  // "http://127.0.0.1:40123/3f…/"
  std::string address() const;
  // Returns how often the page was sent.
  uint64_t served() const;

 private:
  class Impl;
  explicit PageServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace profiler::serve
