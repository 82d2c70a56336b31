#include "src/serve/page_server.h"

#include <sys/random.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr auto kPatience = std::chrono::seconds(30);  // with who connects and says nothing
constexpr uint32_t kMostHeader = 16 * 1024;
constexpr size_t kTokenBytes = 16;

absl::StatusOr<std::string> RandomToken() {
  std::array<char, kTokenBytes> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return absl::UnavailableError("the kernel gives no random numbers for the page's address");
  }
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

// As long for a wrong token as for a right one, so that its bytes cannot be found one by one.
bool AreSame(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

http::status StatusOf(Answer answer) {
  switch (answer) {
    case Answer::kNotFound:
      return http::status::not_found;
    case Answer::kWrongHost:
      return http::status::forbidden;
    case Answer::kNotSupported:
      return http::status::method_not_allowed;
    default:
      return http::status::ok;
  }
}

void SetHeader(http::fields& fields) {
  fields.set(http::field::content_type, "text/html; charset=utf-8");
  fields.set(http::field::cache_control, "no-store");
  fields.set("Content-Security-Policy",
             "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
             "img-src data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("Referrer-Policy", "no-referrer");
  fields.set("Cross-Origin-Resource-Policy", "same-origin");
}

}  // namespace

Answer AnswerTo(const PageRequest& request, std::string_view token, uint16_t port) {
  if (request.host != absl::StrCat("127.0.0.1:", port) &&
      request.host != absl::StrCat("localhost:", port)) {
    return Answer::kWrongHost;
  }
  if (!AreSame(request.target, absl::StrCat("/", View(token), "/"))) return Answer::kNotFound;
  if (request.method == "HEAD") return Answer::kPageHead;
  return request.method == "GET" ? Answer::kPage : Answer::kNotSupported;
}

class PageServer::Impl {
 public:
  Impl(asio::io_context& context, std::string page, std::string token)
      : acceptor_(context), page_(std::move(page)), token_(std::move(token)) {}

  absl::Status Open(uint16_t port) {
    const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), port);
    beast::error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return absl::UnavailableError(absl::StrCat("127.0.0.1:", port,
                                                 ": cannot listen there: ", error.message(),
                                                 port == 0 ? "" : "; choose another --port"));
    }
    port_ = acceptor_.local_endpoint(error).port();
    Accept();
    return absl::OkStatus();
  }

  std::string address() const { return absl::StrCat("http://127.0.0.1:", port_, "/", token_, "/"); }
  uint64_t served() const { return served_; }

 private:
  // One connection: a request, an answer, the end.
  struct Connection {
    explicit Connection(tcp::socket socket) : stream(std::move(socket)) {
      parser.header_limit(kMostHeader);
      parser.body_limit(0);
    }
    beast::tcp_stream stream;
    beast::flat_buffer buffer;
    http::request_parser<http::empty_body> parser;
    http::response<http::span_body<const char>> response;
  };

  void Accept() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) Read(std::make_shared<Connection>(std::move(socket)));
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

  void Respond(const std::shared_ptr<Connection>& connection) {
    const auto& request = connection->parser.get();
    const auto text = [](const auto& view) { return std::string_view(view.data(), view.size()); };
    const Answer answer = AnswerTo({.method = text(request.method_string()),
                                    .target = text(request.target()),
                                    .host = text(request[http::field::host])},
                                   token_, port_);
    auto& response = connection->response;
    response.version(request.version());
    response.result(StatusOf(answer));
    SetHeader(response.base());
    response.keep_alive(false);
    if (answer == Answer::kPage) {
      response.body() = {page_.data(), page_.size()};
      ++served_;
    }
    response.content_length(answer == Answer::kPageHead ? page_.size() : response.body().size());
    connection->stream.expires_after(kPatience);
    http::async_write(connection->stream, response, [connection](beast::error_code, size_t) {
      beast::error_code ignored;
      connection->stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  tcp::acceptor acceptor_;
  const std::string page_;
  const std::string token_;
  uint16_t port_ = 0;
  uint64_t served_ = 0;
};

PageServer::PageServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PageServer::~PageServer() = default;

absl::StatusOr<std::unique_ptr<PageServer>> PageServer::Listen(asio::io_context& context,
                                                               std::string page, uint16_t port) {
  PROFILER_ASSIGN_OR_RETURN(std::string token, RandomToken());
  auto impl = std::make_unique<Impl>(context, std::move(page), std::move(token));
  PROFILER_RETURN_IF_ERROR(impl->Open(port));
  return std::unique_ptr<PageServer>(new PageServer(std::move(impl)));
}

std::string PageServer::address() const { return impl_->address(); }
uint64_t PageServer::served() const { return impl_->served(); }

}  // namespace profiler::serve
