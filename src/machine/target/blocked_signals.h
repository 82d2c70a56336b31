// Makes signals readable from a descriptor, while an object lives.
//
// The signals are blocked and come through a signalfd(2), so no handler runs. The destructor
// unblocks them; a signal that came and was not read takes effect then.
// There may be several objects, for different signals.

#pragma once

#include <signal.h>

#include <memory>
#include <optional>
#include <span>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::target {

// An object that blocks signals in the thread that creates it. Other threads must have these
// signals blocked.
class BlockedSignals {
 public:
  struct Signal {
    int number = 0;
    // True if a process sent the signal (kill(2) and similar calls), false if the terminal sent it
    // to its foreground process group.
    bool sent_to_us = false;
  };

  // Blocks the signals. Errors: those of signalfd(2).
  static absl::StatusOr<BlockedSignals> Block(std::span<const int> signals);
  BlockedSignals(BlockedSignals&& other) noexcept;
  BlockedSignals& operator=(BlockedSignals&&) = delete;
  ~BlockedSignals();

  int fd() const { return fd_.get(); }  // readable when a signal is pending; non-blocking
  std::optional<Signal> Take();

  // Lets the next of these signals end the process at once, whatever its threads are doing. Ignores
  // signals in the first tenth of a second, because timeout(1) sends each signal twice. Starts a
  // thread that waits for the signal until this object is destroyed. Do not call Take afterwards.
  void EndAtNext();

 private:
  class NextSignal;

  BlockedSignals(UniqueFd fd, const sigset_t& blocked);

  UniqueFd fd_;
  sigset_t blocked_;  // the signals that were not blocked before this object blocked them
  std::unique_ptr<NextSignal> next_;
};

// Blocks the signals that end a recording or count: SIGINT, SIGTERM and SIGQUIT. Also blocks
// SIGHUP, SIGUSR1, SIGUSR2 and SIGXCPU, unless they are ignored (SIGHUP under nohup) or blocked
// already.
absl::StatusOr<BlockedSignals> BlockStopSignals();

// Returns the signal to send to a command when this program gets the signal `number`: the same
// signal if users expect that, otherwise SIGTERM.
int SignalForCommand(int number);

}  // namespace profiler::target
