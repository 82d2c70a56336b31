#include "src/agent/metrics_server.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/procfs/proc_file.h"

namespace profiler::agent {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr auto kPatience = std::chrono::seconds(10);  // with who connects and says nothing
constexpr uint32_t kMostHeader = 16 * 1024;
constexpr int kMostConnections = 16;  // at one time

std::string_view TextIn(beast::string_view view) { return {view.data(), view.size()}; }

// The name in "name:port" and "[::1]:port".
std::string_view NameIn(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool MayAsk(std::string_view host, const asio::ip::address& address) {
  if (!address.is_loopback()) return true;
  const std::string_view name = NameIn(host);
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]" ||
         name == address.to_string();
}

}  // namespace

absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text) {
  ListenAddress address;
  const size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  const auto port = colon == std::string_view::npos
                        ? std::nullopt
                        : procfs::ParseNumber<uint16_t>(text.substr(colon + 1));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (!host.empty()) address.host = std::string(host);
  beast::error_code error;
  asio::ip::make_address(address.host, error);
  if (!port || error) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", View(text), "' is no address and port, as 127.0.0.1:9099 or [::1]:9099"));
  }
  address.port = *port;
  return address;
}

bool IsForOthers(const ListenAddress& address) {
  beast::error_code error;
  return !asio::ip::make_address(address.host, error).is_loopback();
}

class MetricsServer::Impl {
 public:
  Impl(asio::io_context& context, std::function<std::string()> text)
      : acceptor_(context), text_(std::move(text)) {}

  absl::Status Open(const ListenAddress& address) {
    beast::error_code error;
    const tcp::endpoint endpoint(asio::ip::make_address(address.host, error), address.port);
    if (!error) acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return absl::UnavailableError(absl::StrCat("--metrics ", address.host, ":", address.port,
                                                 ": cannot listen there: ", error.message(),
                                                 "; choose another port, or --metrics none"));
    }
    Accept();
    return absl::OkStatus();
  }

  uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  // One connection: a request, an answer, the end.
  struct Connection {
    Connection(tcp::socket socket, std::shared_ptr<int> open)
        : stream(std::move(socket)), open_connections(std::move(open)) {
      ++*open_connections;
      parser.header_limit(kMostHeader);
      parser.body_limit(0);
    }
    ~Connection() { --*open_connections; }
    beast::tcp_stream stream;
    beast::flat_buffer buffer;
    http::request_parser<http::empty_body> parser;
    http::response<http::string_body> response;
    const std::shared_ptr<int> open_connections;
  };

  void Accept() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error && *open_ < kMostConnections) {
        Read(std::make_shared<Connection>(std::move(socket), open_));
      }
      Accept();
    });
  }

  void Read(const std::shared_ptr<Connection>& connection) {
    connection->stream.expires_after(kPatience);
    http::async_read(connection->stream, connection->buffer, connection->parser,
                     [this, connection](beast::error_code error, size_t) {
                       if (!error) Respond(connection);
                     });
  }

  http::status StatusFor(const http::request<http::empty_body>& request) const {
    if (!MayAsk(TextIn(request[http::field::host]), acceptor_.local_endpoint().address())) {
      return http::status::forbidden;
    }
    const std::string_view target = TextIn(request.target());
    if (target.substr(0, target.find('?')) != "/metrics") return http::status::not_found;
    const bool reads = request.method() == http::verb::get || request.method() == http::verb::head;
    return reads ? http::status::ok : http::status::method_not_allowed;
  }

  void Respond(const std::shared_ptr<Connection>& connection) {
    const auto& request = connection->parser.get();
    auto& response = connection->response;
    response.version(request.version());
    response.result(StatusFor(request));
    response.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
    response.set(http::field::cache_control, "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    response.keep_alive(false);
    std::string text = response.result() == http::status::ok ? text_() : "see /metrics\n";
    response.content_length(text.size());
    if (request.method() != http::verb::head) response.body() = std::move(text);
    connection->stream.expires_after(kPatience);
    http::async_write(connection->stream, response, [connection](beast::error_code, size_t) {
      beast::error_code ignored;
      connection->stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  tcp::acceptor acceptor_;
  const std::function<std::string()> text_;
  // How many connections there are, which may outlive this.
  const std::shared_ptr<int> open_ = std::make_shared<int>(0);
};

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MetricsServer::~MetricsServer() = default;

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Listen(
    asio::io_context& context, const ListenAddress& address, std::function<std::string()> text) {
  auto impl = std::make_unique<Impl>(context, std::move(text));
  PROFILER_RETURN_IF_ERROR(impl->Open(address));
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(impl)));
}

uint16_t MetricsServer::port() const { return impl_->port(); }

}  // namespace profiler::agent
