#include "src/fleet/push/push_loop.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace profiler::fleet {

void PushLoop::Stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  changed_.notify_all();
}

bool PushLoop::Sleep(std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [&] { return is_stopped_; });
  return !is_stopped_;
}

absl::Status PushLoop::Run(SegmentDelivery& delivery) {
  using Kind = SegmentDelivery::Progress::Kind;
  std::chrono::nanoseconds wait(0);
  while (Sleep(wait)) {
    const auto progress = delivery.Step();
    wait = options_.look_every;
    if (!progress.ok()) {
      if (options_.on_error == nullptr) return progress.status();
      options_.on_error(progress.status());
      continue;
    }
    if (options_.most_failures > 0 && delivery.failures_in_row() >= options_.most_failures) {
      return absl::UnavailableError(
          absl::StrCat("given up after ", delivery.failures_in_row(), " tries"));
    }
    switch (progress->kind) {
      case Kind::kWorked:
        wait = wait.zero();
        break;
      case Kind::kWaits:
        wait = progress->wait;
        break;
      case Kind::kIdle:
        if (!options_.follow && progress->wait == wait.zero()) return absl::OkStatus();
        if (progress->wait != wait.zero()) wait = std::min(wait, progress->wait);
        break;
    }
  }
  return absl::OkStatus();
}

}  // namespace profiler::fleet
