#include "src/http/testing/test_server.h"

#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace profiler::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using beast::error_code;

constexpr uint64_t kMostBody = uint64_t{1} << 30;

std::string TextOf(beast::string_view view) { return {view.data(), view.size()}; }

ReceivedRequest Received(const beast::http::request<beast::http::string_body>& request) {
  ReceivedRequest received = {.method = TextOf(request.method_string()),
                              .target = TextOf(request.target()),
                              .headers = {},
                              .body = request.body()};
  for (const auto& field : request) {
    received.headers.emplace_back(absl::AsciiStrToLower(TextOf(field.name_string())),
                                  TextOf(field.value()));
  }
  return received;
}

// Returns the answer's head; the body follows it.
std::string HeadOf(const ServerAnswer& answer) {
  using End = ServerAnswer::End;
  std::string head = absl::StrCat("HTTP/1.1 ", answer.status, " Answer\r\n");
  for (const auto& [name, value] : answer.headers) {
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  }
  if (answer.end == End::kEndless) return head + "\r\n";  // the body ends with the connection
  const size_t missing = answer.end == End::kCutOff ? 1000 : 0;
  return absl::StrCat(head, "Content-Length: ", answer.body.size() + missing, "\r\n\r\n");
}

}  // namespace

std::string_view ReceivedRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

class TestServer::Impl {
 public:
  Impl(Handler handler, const ServerTls* tls)
      : handler_(std::move(handler)),
        acceptor_(context_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        port_(acceptor_.local_endpoint().port()) {
    if (tls != nullptr) SetTls(*tls);
    accepting_ = std::thread([this] { Accept(); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
      for (const int fd : open_) shutdown(fd, SHUT_RDWR);
    }
    shutdown(acceptor_.native_handle(), SHUT_RDWR);
    accepting_.join();
    for (std::thread& thread : threads_) thread.join();
  }

  std::string url() const {
    return tls_ ? absl::StrCat("https://localhost:", port_)
                : absl::StrCat("http://127.0.0.1:", port_);
  }
  uint16_t port() const { return port_; }
  std::vector<ReceivedRequest> received() const {
    const std::lock_guard lock(mutex_);
    return received_;
  }
  size_t connections() const {
    const std::lock_guard lock(mutex_);
    return connections_;
  }

 private:
  void SetTls(const ServerTls& tls) {
    tls_.emplace(asio::ssl::context::tls_server);
    tls_->use_certificate_chain_file(tls.certificate_file);
    tls_->use_private_key_file(tls.key_file, asio::ssl::context::pem);
    if (tls.authority_file.empty()) return;
    tls_->load_verify_file(tls.authority_file);
    tls_->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  }

  void Accept() {
    for (;;) {
      error_code error;
      tcp::socket socket = acceptor_.accept(error);
      const std::lock_guard lock(mutex_);
      if (is_over_) return;
      if (error) continue;
      ++connections_;
      open_.insert(socket.native_handle());
      threads_.emplace_back([this, socket = std::move(socket)]() mutable { Serve(socket); });
    }
  }

  void Serve(tcp::socket& socket) {
    const int fd = socket.native_handle();
    if (tls_) {
      error_code error;
      asio::ssl::stream<tcp::socket&> stream(socket, *tls_);
      stream.handshake(asio::ssl::stream_base::server, error);
      if (!error) ServeAll(stream);
    } else {
      ServeAll(socket);
    }
    const std::lock_guard lock(mutex_);
    open_.erase(fd);
    shutdown(fd, SHUT_RDWR);
    error_code ignored;
    socket.close(ignored);
  }

  template <class Stream>
  void ServeAll(Stream& stream) {
    beast::flat_buffer buffer;
    for (;;) {
      error_code error;
      beast::http::request_parser<beast::http::string_body> parser;
      parser.body_limit(kMostBody);
      beast::http::read_header(stream, buffer, parser, error);
      if (error) return;
      if (parser.get()[beast::http::field::expect] == "100-continue") {
        asio::write(stream, asio::buffer(std::string_view("HTTP/1.1 100 Continue\r\n\r\n")), error);
      }
      if (!error) beast::http::read(stream, buffer, parser, error);
      if (error || !Answer(stream, Received(parser.get()))) return;
    }
  }

  // Answers the request. Returns false if the connection is to be closed.
  template <class Stream>
  bool Answer(Stream& stream, const ReceivedRequest& request) {
    using End = ServerAnswer::End;
    ServerAnswer answer;
    {
      const std::lock_guard handling(handling_);
      answer = handler_(request);
      const std::lock_guard lock(mutex_);
      received_.push_back(request);
    }
    error_code error;
    if (answer.end == End::kNoAnswer) return false;
    if (answer.end == End::kNever) {
      char byte;
      stream.read_some(asio::buffer(&byte, 1), error);  // waits until the client closes
      return false;
    }
    asio::write(stream, asio::buffer(HeadOf(answer)), error);
    if (!error && request.method != "HEAD") asio::write(stream, asio::buffer(answer.body), error);
    while (!error && answer.end == End::kEndless) {
      asio::write(stream, asio::buffer(answer.body), error);
    }
    return !error && answer.end == End::kWhole;
  }

  const Handler handler_;
  asio::io_context context_;
  tcp::acceptor acceptor_;
  const uint16_t port_;
  std::optional<asio::ssl::context> tls_;
  std::thread accepting_;

  std::mutex handling_;
  mutable std::mutex mutex_;  // guards all members below
  bool is_over_ = false;
  std::set<int> open_;
  std::vector<std::thread> threads_;
  std::vector<ReceivedRequest> received_;
  size_t connections_ = 0;
};

TestServer::TestServer(Handler handler)
    : impl_(std::make_unique<Impl>(std::move(handler), nullptr)) {}
TestServer::TestServer(Handler handler, const ServerTls& tls)
    : impl_(std::make_unique<Impl>(std::move(handler), &tls)) {}
TestServer::~TestServer() = default;

std::string TestServer::url() const { return impl_->url(); }
uint16_t TestServer::port() const { return impl_->port(); }
std::vector<ReceivedRequest> TestServer::received() const { return impl_->received(); }
size_t TestServer::connections() const { return impl_->connections(); }

}  // namespace profiler::http
