#include "src/cli/fleet/push_metrics.h"

#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <span>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/regular_file.h"
#include "src/base/transfer.h"
#include "src/fleet/segments/segment_directory.h"

namespace profiler::cli {

std::string MetricsOfAgent(const std::string& spool) {
  constexpr size_t kMost = size_t{1} << 20;
  const std::string path = absl::StrCat(spool, "/", fleet::kMetricsFile);
  const auto file = OpenRegularFile(path);
  if (!file.ok()) return {};
  std::string text(kMost, '\0');
  const auto size = ReadFully(file->get(), std::as_writable_bytes(std::span(text)), path);
  text.resize(size.ok() ? *size : 0);
  return text;
}

class PushMetrics::Impl {
 public:
  Impl(std::string spool, std::function<std::vector<agent::AgentMetrics::Pushed>()> pushed)
      : spool_(std::move(spool)), pushed_(std::move(pushed)) {}

  ~Impl() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Start(const agent::ListenAddress& address) {
    PROFILER_ASSIGN_OR_RETURN(server_, agent::MetricsServer::Listen(io_, address, [this] {
                                return MetricsOfAgent(spool_) + agent::PushedText(pushed_());
                              }));
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { io_.run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return absl::OkStatus();
  }

  uint16_t port() const { return server_->port(); }

 private:
  const std::string spool_;
  const std::function<std::vector<agent::AgentMetrics::Pushed>()> pushed_;
  boost::asio::io_context io_{1};
  std::unique_ptr<agent::MetricsServer> server_;
  std::thread thread_;
};

PushMetrics::PushMetrics(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PushMetrics::~PushMetrics() = default;

uint16_t PushMetrics::port() const { return impl_->port(); }

absl::StatusOr<std::unique_ptr<PushMetrics>> PushMetrics::Start(
    const agent::ListenAddress& address, std::string spool,
    std::function<std::vector<agent::AgentMetrics::Pushed>()> pushed) {
  auto impl = std::make_unique<Impl>(std::move(spool), std::move(pushed));
  PROFILER_RETURN_IF_ERROR(impl->Start(address));
  return std::unique_ptr<PushMetrics>(new PushMetrics(std::move(impl)));
}

}  // namespace profiler::cli
