#include "src/record/switch_trigger.h"

#include <signal.h>

#include <array>
#include <cstring>
#include <utility>

#include "src/format/perf_event/abi.h"

namespace profiler::record {

using boost::system::error_code;
using std::chrono::steady_clock;

SwitchTrigger::SwitchTrigger(boost::asio::io_context& io, const SwitchOutput& options,
                             std::function<void()> on_switch)
    : options_(options), on_switch_(std::move(on_switch)), descriptor_(io), timer_(io) {}

SwitchTrigger::~SwitchTrigger() {
  Stop();
  // A pending signal would end the process once SIGUSR2 is unblocked.
  while (signals_ && signals_->Take()) {
  }
}

absl::Status SwitchTrigger::WatchSignal() {
  static constexpr std::array kSignals = {SIGUSR2};
  PROFILER_ASSIGN_OR_RETURN(auto signals, target::BlockedSignals::Block(kSignals));
  signals_.emplace(std::move(signals));
  if (!options_.at_signal) return absl::OkStatus();
  error_code error;
  descriptor_.assign(signals_->fd(), error);
  if (error) return ErrnoStatus(error.value(), "--switch-output");
  AwaitSignal();
  return absl::OkStatus();
}

void SwitchTrigger::AwaitSignal() {
  descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this](const error_code& failed) {
                           if (failed) return;
                           if (signals_->Take()) on_switch_();
                           AwaitSignal();
                         });
}

void SwitchTrigger::StartTime() {
  if (options_.time.count() != 0) AwaitTime(steady_clock::now());
}

// Schedules the next switch a fixed time after the last due time, so that delays do not add up.
void SwitchTrigger::AwaitTime(steady_clock::time_point after) {
  timer_.expires_at(after + options_.time);
  timer_.async_wait([this](const error_code& failed) {
    if (failed) return;
    on_switch_();
    const auto due = timer_.expiry();
    const auto now = steady_clock::now();
    AwaitTime(due + options_.time < now ? now : due);
  });
}

void SwitchTrigger::Stop() {
  timer_.cancel();
  // The descriptor belongs to signals_, which closes it.
  if (descriptor_.is_open()) descriptor_.release();
}

void SwitchSamples::Take(const ringbuf::RingBytes& bytes) {
  if (have_come_) return;
  ringbuf::RecordCursor cursor(bytes, *bounce_);
  while (const auto record = cursor.Next()) {
    // Samples begin with the id of their event.
    uint64_t id = 0;
    if (record->type() != perf_event::kRecordSample || record->body().size() < sizeof(id)) continue;
    std::memcpy(&id, record->body().data(), sizeof(id));
    if (ids_.contains(id)) have_come_ = true;
  }
}

}  // namespace profiler::record
