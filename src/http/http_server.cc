#include "src/http/http_server.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <list>

#include "absl/strings/str_cat.h"

namespace profiler::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr uint32_t kMostHeader = 16 * 1024;

std::string_view TextIn(beast::string_view view) { return {view.data(), view.size()}; }
beast::string_view ViewOf(std::string_view text) { return {text.data(), text.size()}; }

struct Connection;

// All open connections.
struct Connections {
  size_t count = 0;
  std::list<Connection*> waiting;  // connections without a request yet, the oldest first
};

// One connection: it reads a request, answers it and ends.
struct Connection {
  Connection(tcp::socket socket, std::shared_ptr<Connections> all)
      : stream(std::move(socket)),
        others(std::move(all)),
        place(others->waiting.insert(others->waiting.end(), this)) {
    ++others->count;
    parser.header_limit(kMostHeader);
    parser.body_limit(0);
  }
  Connection(const Connection&) = delete;
  ~Connection() {
    StopWaiting();
    --others->count;
  }

  void StopWaiting() {
    if (std::exchange(waits, false)) others->waiting.erase(place);
  }

  beast::tcp_stream stream;
  beast::flat_buffer buffer;
  http::request_parser<http::empty_body> parser;
  http::response<http::span_body<const char>> response;
  std::shared_ptr<const std::string> body;  // keeps the bytes of `response` alive
  const std::shared_ptr<Connections> others;
  const std::list<Connection*>::iterator place;
  bool waits = true;
};

}  // namespace

class HttpServer::Impl {
 public:
  Impl(asio::io_context& context, const HttpServerOptions& options,
       std::function<HttpAnswer(const HttpRequest&)> answer)
      : acceptor_(context), pause_(context), options_(options), answer_(std::move(answer)) {}

  absl::Status Open() {
    beast::error_code error;
    const tcp::endpoint endpoint(asio::ip::make_address(options_.address, error), options_.port);
    if (!error) acceptor_.open(endpoint.protocol(), error);
    if (!error && options_.may_reuse_address) {
      acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    }
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return absl::UnavailableError(absl::StrCat("cannot listen there: ", error.message()));
    }
    port_ = acceptor_.local_endpoint(error).port();
    Accept();
    return absl::OkStatus();
  }

  uint16_t port() const { return port_; }

 private:
  void Accept() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return AcceptLater();
      if (MakeRoom()) Read(std::make_shared<Connection>(std::move(socket), open_));
      Accept();
    });
  }

  // Retries later: without a free descriptor, the listening socket stays readable, and an immediate
  // retry would spin.
  void AcceptLater() {
    constexpr std::chrono::milliseconds kPause{100};
    pause_.expires_after(kPause);
    pause_.async_wait([this](beast::error_code error) {
      if (!error) Accept();
    });
  }

  // Makes room for one more connection, if necessary by closing the oldest connection without a
  // request. Returns false if all connections have sent their requests.
  bool MakeRoom() {
    if (open_->count < options_.most_connections) return true;
    if (open_->waiting.empty()) return false;
    Connection& oldest = *open_->waiting.front();
    oldest.StopWaiting();
    oldest.stream.close();  // its pending read fails, which ends the connection
    return true;
  }

  void Read(const std::shared_ptr<Connection>& connection) {
    connection->stream.expires_after(options_.patience);
    http::async_read(connection->stream, connection->buffer, connection->parser,
                     [this, connection](beast::error_code error, size_t) {
                       if (!error) Respond(connection);
                     });
  }

  void Respond(const std::shared_ptr<Connection>& connection) {
    connection->StopWaiting();
    const auto& request = connection->parser.get();
    HttpAnswer answer = answer_({.method = TextIn(request.method_string()),
                                 .target = TextIn(request.target()),
                                 .host = TextIn(request[http::field::host])});
    auto& response = connection->response;
    response.version(request.version());
    response.result(answer.status);
    for (const auto& [name, text] : answer.headers) response.set(ViewOf(name), ViewOf(text));
    response.keep_alive(false);
    connection->body = std::move(answer.body);
    response.content_length(connection->body->size());
    if (request.method() != http::verb::head) {
      response.body() = {connection->body->data(), connection->body->size()};
    }
    connection->stream.expires_after(options_.patience);
    http::async_write(connection->stream, response, [connection](beast::error_code, size_t) {
      beast::error_code ignored;
      connection->stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  const HttpServerOptions options_;
  const std::function<HttpAnswer(const HttpRequest&)> answer_;
  uint16_t port_ = 0;
  // Shared, because connections may outlive the server.
  const std::shared_ptr<Connections> open_ = std::make_shared<Connections>();
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Listen(
    asio::io_context& context, const HttpServerOptions& options,
    std::function<HttpAnswer(const HttpRequest&)> answer) {
  auto impl = std::make_unique<Impl>(context, options, std::move(answer));
  PROFILER_RETURN_IF_ERROR(impl->Open());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

uint16_t HttpServer::port() const { return impl_->port(); }

}  // namespace profiler::serve
