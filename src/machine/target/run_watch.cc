#include "src/machine/target/run_watch.h"

#include <signal.h>

#include <boost/asio/error.hpp>
#include <string>
#include <utility>

namespace profiler::target {

using boost::system::error_code;

RunWatch::RunWatch(boost::asio::io_context& io, std::function<void(RunEnd)> on_end)
    : on_end_(std::move(on_end)),
      targets_(io, [this] { on_end_(RunEnd::kTargetsExited); }),
      signal_descriptor_(io),
      command_descriptor_(io),
      control_descriptor_(io) {}

absl::Status RunWatch::Assign(Descriptor& descriptor, int fd, std::string_view what) {
  error_code error;
  descriptor.assign(fd, error);
  return error ? ErrnoStatus(error.value(), std::string(what)) : absl::OkStatus();
}

void RunWatch::Stop() {
  // The descriptors belong to other objects, which close them.
  for (Descriptor* descriptor : {&signal_descriptor_, &command_descriptor_, &control_descriptor_}) {
    if (descriptor->is_open()) descriptor->release();
  }
  signals_.reset();
}

// ---- signals

absl::Status RunWatch::WatchSignals() { return WatchSignals(BlockStopSignals()); }

absl::Status RunWatch::WatchSignals(std::span<const int> signals, std::function<void()> on_hangup) {
  on_hangup_ = std::move(on_hangup);
  return WatchSignals(BlockedSignals::Block(signals));
}

absl::Status RunWatch::WatchSignals(absl::StatusOr<BlockedSignals> signals) {
  PROFILER_RETURN_IF_ERROR(signals.status());
  signals_.emplace(*std::move(signals));
  PROFILER_RETURN_IF_ERROR(Assign(signal_descriptor_, signals_->fd(), "waiting for signals"));
  AwaitSignal();
  return absl::OkStatus();
}

void RunWatch::AwaitSignal() {
  signal_descriptor_.async_wait(Descriptor::wait_read, [this](const error_code& failed) {
    if (!failed) TakeSignal();
  });
}

void RunWatch::TakeSignal() {
  const std::optional<BlockedSignals::Signal> signal = signals_->Take();
  const bool is_hangup = signal && signal->number == SIGHUP && on_hangup_ != nullptr;
  if (is_hangup) on_hangup_();
  if (!signal || is_hangup) return AwaitSignal();
  signal_ = signal->number;
  signals_->EndAtNext();
  // A signal from the terminal reaches the command anyway.
  if (command_ != nullptr && signal->sent_to_us) command_->Kill(SignalForCommand(signal_));
  on_end_(RunEnd::kSignal);
}

// ---- the command and the targets

absl::Status RunWatch::WatchEnd(Command* command, const Targets& targets) {
  command_ = command;
  if (command_ == nullptr) {
    return targets.system_wide ? absl::OkStatus() : targets_.Watch(targets.pids, targets.tids);
  }
  PROFILER_RETURN_IF_ERROR(Assign(command_descriptor_, command_->end_fd(), "watching the command"));
  command_descriptor_.async_wait(Descriptor::wait_read, [this](const error_code& failed) {
    if (!failed) on_end_(RunEnd::kCommandExited);
  });
  return absl::OkStatus();
}

// ---- --control

absl::Status RunWatch::WatchControl(Control& control, ControlHandlers handlers) {
  control_ = &control;
  handlers_ = std::move(handlers);
  PROFILER_RETURN_IF_ERROR(Assign(control_descriptor_, control_->fd(), "--control"));
  AwaitControl();
  return absl::OkStatus();
}

void RunWatch::AwaitControl() {
  control_descriptor_.async_wait(Descriptor::wait_read, [this](const error_code& failed) {
    if (failed == boost::asio::error::operation_aborted) return;
    // A descriptor that cannot be waited for, for example /dev/null, already has all its commands.
    for (const Control::Command command : control_->Take()) {
      if (!Obey(command)) return;
    }
    if (!failed && !control_->is_over()) AwaitControl();
  });
}

bool RunWatch::Obey(Control::Command command) {
  switch (command) {
    case Control::Command::kEnable:
      if (!handlers_.enable()) return false;
      break;
    case Control::Command::kDisable:
      if (!handlers_.disable()) return false;
      break;
    case Control::Command::kStop:
      on_end_(RunEnd::kRequested);
      break;
    case Control::Command::kSnapshot:
      if (!handlers_.snapshot) break;
      handlers_.snapshot([control = control_] { control->Acknowledge(); });
      return true;
    case Control::Command::kPing:
      break;
    case Control::Command::kUnknown:
      handlers_.on_unknown("--control: unknown command; use enable, disable, stop or ping");
      return true;
  }
  control_->Acknowledge();
  return true;
}

}  // namespace profiler::target
