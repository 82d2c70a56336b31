// An HTTP server for tests, on a port of this machine. It sends the answers that the test chooses,
// and keeps the requests it received.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profiler::http {

struct ReceivedRequest {
  std::string method;  // "CONNECT" if the client uses it as a proxy
  std::string target;  // "/path?query"; for a proxy a whole URL, or "host:port"
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  // Returns the header's value, or "" if there is none.
  std::string_view Header(std::string_view name) const;
};

struct ServerAnswer {
  enum class End {
    kWhole,
    kNever,     // sends nothing and keeps the connection open
    kCutOff,    // closes the connection in the middle of the body
    kEndless,   // repeats the body without end
    kNoAnswer,  // closes the connection at once
  };
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  End end = End::kWhole;
};

// Certificates in PEM. With `authority_file`, clients must also show a certificate of that
// authority.
struct ServerTls {
  std::string certificate_file, key_file, authority_file;
};

// A server that answers each connection on a separate thread.
class TestServer {
 public:
  // The server calls the handler on the connections' threads, one call at a time.
  using Handler = std::function<ServerAnswer(const ReceivedRequest&)>;

  explicit TestServer(Handler handler);
  TestServer(Handler handler, const ServerTls& tls);
  // Closes all connections.
  ~TestServer();

  // "http://127.0.0.1:12345", or "https://localhost:12345".
  std::string url() const;
  uint16_t port() const;
  // Returns all requests so far, in order of arrival.
  std::vector<ReceivedRequest> received() const;
  size_t connections() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns a handler that gives this answer to every request.
inline TestServer::Handler Always(ServerAnswer answer) {
  return [answer = std::move(answer)](const ReceivedRequest&) { return answer; };
}

}  // namespace profiler::http
