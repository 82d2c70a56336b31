#include "src/http/page_server.h"

#include <sys/random.h>

#include <array>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::serve {
namespace {

namespace asio = boost::asio;

constexpr size_t kTokenBytes = 16;

absl::StatusOr<std::string> RandomToken() {
  std::array<char, kTokenBytes> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return absl::UnavailableError("the kernel gives no random numbers for the page's address");
  }
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

// Compares in constant time, so that response times do not help to guess the token byte by byte.
bool AreSame(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

unsigned StatusOf(Answer answer) {
  switch (answer) {
    case Answer::kNotFound:
      return 404;
    case Answer::kWrongHost:
      return 403;
    case Answer::kNotSupported:
      return 405;
    default:
      return 200;
  }
}

HttpAnswer WithHeaders(Answer answer, std::shared_ptr<const std::string> body) {
  return {.status = StatusOf(answer),
          .headers = {{"Content-Type", "text/html; charset=utf-8"},
                      {"Cache-Control", "no-store"},
                      {"Content-Security-Policy",
                       "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                       "img-src data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action "
                       "'none'"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Resource-Policy", "same-origin"}},
          .body = std::move(body)};
}

}  // namespace

Answer AnswerTo(const HttpRequest& request, std::string_view token, uint16_t port) {
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
  Impl(std::string page, std::string token)
      : page_(std::make_shared<const std::string>(std::move(page))), token_(std::move(token)) {}

  absl::Status Open(asio::io_context& context, uint16_t port) {
    auto server = HttpServer::Listen(
        context, {.port = port}, [this](const HttpRequest& request) { return Respond(request); });
    if (!server.ok()) {
      return absl::UnavailableError(absl::StrCat("127.0.0.1:", port, ": ",
                                                 std::string(server.status().message()),
                                                 port == 0 ? "" : "; choose another --port"));
    }
    server_ = *std::move(server);
    return absl::OkStatus();
  }

  std::string address() const {
    return absl::StrCat("http://127.0.0.1:", server_->port(), "/", token_, "/");
  }
  uint64_t served() const { return served_; }

 private:
  HttpAnswer Respond(const HttpRequest& request) {
    const Answer answer = AnswerTo(request, token_, server_->port());
    if (answer == Answer::kPage) ++served_;
    const bool has_page = answer == Answer::kPage || answer == Answer::kPageHead;
    return WithHeaders(answer, has_page ? page_ : nothing_);
  }

  const std::shared_ptr<const std::string> page_;
  const std::shared_ptr<const std::string> nothing_ = std::make_shared<const std::string>();
  const std::string token_;
  uint64_t served_ = 0;
  std::unique_ptr<HttpServer> server_;
};

PageServer::PageServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PageServer::~PageServer() = default;

absl::StatusOr<std::unique_ptr<PageServer>> PageServer::Listen(asio::io_context& context,
                                                               std::string page, uint16_t port) {
  PROFILER_ASSIGN_OR_RETURN(std::string token, RandomToken());
  auto impl = std::make_unique<Impl>(std::move(page), std::move(token));
  PROFILER_RETURN_IF_ERROR(impl->Open(context, port));
  return std::unique_ptr<PageServer>(new PageServer(std::move(impl)));
}

std::string PageServer::address() const { return impl_->address(); }
uint64_t PageServer::served() const { return impl_->served(); }

}  // namespace profiler::serve
