// Watches everything that ends or steers a run: signals, the command, the targets, and --control.
// A run is a recording or a count; the agent watches only signals.
//
//   source                                     call
//   SIGINT, SIGTERM and others                 on_end(kSignal); the command gets the signal, too
//   the command exits                          on_end(kCommandExited)
//   the last target exits                      on_end(kTargetsExited)
//   --control: stop                            on_end(kRequested)
//              enable, disable, snapshot       the handler of that name
//              a line that is no command       on_unknown

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "src/base/status.h"
#include "src/machine/target/blocked_signals.h"
#include "src/machine/target/child_command.h"
#include "src/machine/target/control.h"
#include "src/machine/target/target_watch.h"
#include "src/machine/target/targets.h"

namespace profiler::target {

enum class RunEnd { kSignal, kCommandExited, kTargetsExited, kRequested };

// Obeys the commands of --control. After `enable` or `disable` has returned false, because it
// failed, no more commands are obeyed.
struct ControlHandlers {
  // Gets the function that acknowledges the command, to be called once, when the command is done.
  using Snapshot = std::function<void(std::function<void()> done)>;

  std::function<bool()> enable, disable;
  Snapshot snapshot;  // empty: the command is acknowledged at once
  std::function<void(std::string_view message)> on_unknown;  // gets a message to the user
};

// The watch. Use it only in the thread that runs the io_context.
class RunWatch {
 public:
  // `io` must outlive this object. `on_end` is called from the io_context, and may be called more
  // than once, for different reasons. It must not call Stop.
  RunWatch(boost::asio::io_context& io, std::function<void(RunEnd)> on_end);
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;
  ~RunWatch() { Stop(); }

  // Watches the signals that end a run (BlockStopSignals). Only the first signal counts: from then
  // on until Stop, another one ends the process (BlockedSignals::EndAtNext). Errors: those of
  // signalfd(2) and epoll_ctl(2).
  absl::Status WatchSignals();
  // As WatchSignals, for the given signals. SIGHUP, which must be one of them, does not end the
  // run but calls `on_hangup`.
  absl::Status WatchSignals(std::span<const int> signals, std::function<void()> on_hangup);

  // Watches for the end of the command. Without a command (null) watches for the end of all
  // targets, which never comes for the whole system. `command` must live until Stop. Errors: those
  // of epoll_ctl(2) and TargetWatch::Watch.
  absl::Status WatchEnd(Command* command, const Targets& targets);

  // Obeys and acknowledges the commands of `control`, which must live until Stop. Errors: those of
  // epoll_ctl(2).
  absl::Status WatchControl(Control& control, ControlHandlers handlers);

  // Returns the signal that has ended the run; 0 if there was none.
  int signal() const { return signal_; }

  // Ends all watching; call it when the io_context does not run any more. Signals have their former
  // effect again.
  void Stop();

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;

  absl::Status WatchSignals(absl::StatusOr<BlockedSignals> signals);
  void AwaitSignal();
  void TakeSignal();
  void AwaitControl();
  bool Obey(Control::Command command);
  // Assigns `fd`, which its owner closes after Stop.
  static absl::Status Assign(Descriptor& descriptor, int fd, std::string_view what);

  const std::function<void(RunEnd)> on_end_;
  std::function<void()> on_hangup_;
  ControlHandlers handlers_;
  Command* command_ = nullptr;
  Control* control_ = nullptr;
  std::optional<BlockedSignals> signals_;
  int signal_ = 0;
  TargetWatch targets_;
  Descriptor signal_descriptor_, command_descriptor_, control_descriptor_;
};

}  // namespace profiler::target
