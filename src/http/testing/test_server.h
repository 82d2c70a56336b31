// A server of HTTP for tests, on a port of this machine: it answers as a test has it, and keeps
// what it was asked.

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
  std::string method;  // "CONNECT" where it is taken for a proxy
  std::string target;  // "/path?query"; of a proxy a whole URL, or "host:port"
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  // Empty where there is none.
  std::string_view Header(std::string_view name) const;
};

struct ServerAnswer {
  enum class End {
    kWhole,
    kNever,     // not a byte of it is sent, and the connection stays open
    kCutOff,    // in the middle of the body
    kEndless,   // the body is sent again and again
    kNoAnswer,  // the connection is closed at once
  };
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  End end = End::kWhole;
};

// Certificates in PEM. With `authority`, clients have to show one of its certificates, too.
struct ServerTls {
  std::string certificate_file, key_file, authority_file;
};

// Answers each connection on a thread of its own.
class TestServer {
 public:
  // Called on those threads, one at a time.
  using Handler = std::function<ServerAnswer(const ReceivedRequest&)>;

  explicit TestServer(Handler handler);
  TestServer(Handler handler, const ServerTls& tls);
  // Closes all connections.
  ~TestServer();

  // "http://127.0.0.1:12345", or "https://localhost:12345".
  std::string url() const;
  uint16_t port() const;
  // All so far, in the order in which they came.
  std::vector<ReceivedRequest> received() const;
  size_t connections() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Whatever it is asked, it gives this answer.
inline TestServer::Handler Always(ServerAnswer answer) {
  return [answer = std::move(answer)](const ReceivedRequest&) { return answer; };
}

}  // namespace profiler::http
