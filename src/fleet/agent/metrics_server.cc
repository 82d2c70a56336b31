#include "src/fleet/agent/metrics_server.h"

#include <boost/asio/ip/address.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/http/http_server.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::agent {
namespace {

namespace asio = boost::asio;

constexpr auto kPatience = std::chrono::seconds(10);  // longest wait for a connection's request
constexpr size_t kMostConnections = 16;               // open at the same time

// Returns the name in "name:port", or the "[::1]" in "[::1]:port".
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
  boost::system::error_code error;
  asio::ip::make_address(address.host, error);
  if (!port || error) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", View(text), "' is not an address and port such as 127.0.0.1:9099 or [::1]:9099"));
  }
  address.port = *port;
  return address;
}

bool IsForOthers(const ListenAddress& address) {
  boost::system::error_code error;
  return !asio::ip::make_address(address.host, error).is_loopback();
}

class MetricsServer::Impl {
 public:
  explicit Impl(std::function<std::string()> text) : text_(std::move(text)) {}

  absl::Status Open(asio::io_context& context, const ListenAddress& address) {
    boost::system::error_code error;
    address_ = asio::ip::make_address(address.host, error);
    auto server = serve::HttpServer::Listen(
        context,
        {.address = address.host,
         .port = address.port,
         .may_reuse_address = true,
         .patience = kPatience,
         .most_connections = kMostConnections},
        [this](const serve::HttpRequest& request) { return Respond(request); });
    if (!server.ok()) {
      return absl::UnavailableError(absl::StrCat("--metrics ", address.host, ":", address.port,
                                                 ": ", std::string(server.status().message()),
                                                 "; choose another port, or --metrics none"));
    }
    server_ = *std::move(server);
    return absl::OkStatus();
  }

  uint16_t port() const { return server_->port(); }

 private:
  unsigned StatusFor(const serve::HttpRequest& request) const {
    if (!MayAsk(request.host, address_)) return 403;
    if (request.target.substr(0, request.target.find('?')) != "/metrics") return 404;
    return request.method == "GET" || request.method == "HEAD" ? 200 : 405;
  }

  serve::HttpAnswer Respond(const serve::HttpRequest& request) const {
    const unsigned status = StatusFor(request);
    std::string text = status == 200 ? text_() : "see /metrics\n";
    return {.status = status,
            .headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"},
                        {"Cache-Control", "no-store"},
                        {"X-Content-Type-Options", "nosniff"}},
            .body = std::make_shared<const std::string>(std::move(text))};
  }

  const std::function<std::string()> text_;
  asio::ip::address address_;
  std::unique_ptr<serve::HttpServer> server_;
};

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MetricsServer::~MetricsServer() = default;

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Listen(
    asio::io_context& context, const ListenAddress& address, std::function<std::string()> text) {
  auto impl = std::make_unique<Impl>(std::move(text));
  PROFILER_RETURN_IF_ERROR(impl->Open(context, address));
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(impl)));
}

uint16_t MetricsServer::port() const { return impl_->port(); }

}  // namespace profiler::agent
