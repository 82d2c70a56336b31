#include "src/cli/recording/naming_monitor.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/text.h"

namespace profiler::cli {
namespace {

using symbolize::FetchProgress;

constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP};
constexpr std::array kInterrupt = {SIGINT};
constexpr double kMegabyte = 1 << 20;

std::string LineOf(const FetchProgress& progress) {
  std::string line =
      absl::StrFormat("Fetching from debuginfod: %d of %d images, %.1f MB", progress.done,
                      progress.images, static_cast<double>(progress.received) / kMegabyte);
  if (progress.path.empty()) return line;
  absl::StrAppendFormat(&line, "; %.24s", BaseName(progress.path));
  if (progress.its_size != 0) {
    absl::StrAppendFormat(&line, " %.1f of %.1f MB",
                          static_cast<double>(progress.its_received) / kMegabyte,
                          static_cast<double>(progress.its_size) / kMegabyte);
  }
  return line + " (Ctrl-C skips it)";
}

class ShownFetching {
 public:
  bool Show(const FetchProgress& progress) {
    line_.Show([&] { return LineOf(progress); });
    if (signals_.count() == taken_) return false;
    ++taken_;
    return true;
  }

 private:
  const SignalCounter signals_{kInterrupt, /*once=*/true};
  int taken_ = 0;
  Progress line_;
};

}  // namespace

NamingMonitor::NamingMonitor(bool show)
    : signals_(kEnding, /*once=*/true, SignalCounter::Within::kObeyed), progress_(show) {}

naming::NamingProgress NamingMonitor::callback() {
  return [this](std::string_view what, size_t looked_up, size_t all) {
    progress_.Show([&] {
      if (all == 0)
        return absl::StrFormat("Naming: %d %s (Ctrl-C stops it)", looked_up, View(what));
      return absl::StrFormat("Naming: %d of %d %s (Ctrl-C stops it)", looked_up,
                             std::max(looked_up, all), View(what));
    });
    if (signals_.count() == 0) return true;
    signals_.Obeyed();
    return false;
  };
}

symbolize::FetchMonitor WatchFetching() {
  return [shown = std::make_shared<ShownFetching>()](const FetchProgress& progress) {
    return shown->Show(progress);
  };
}

}  // namespace profiler::cli
