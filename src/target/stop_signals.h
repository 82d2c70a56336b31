// SIGINT, SIGTERM and SIGHUP as something to read, while it lives.
//
// They are blocked and come through a signalfd(2), so no handler runs. When this object goes, their
// former effect is back, and one that came twice takes effect then. SIGHUP stays
// ignored where it is (nohup).

#pragma once

#include <signal.h>

#include <optional>

#include "src/base/status.h"
#include "src/base/unique_fd.h"

namespace profiler::target {

// One thread: that whose mask is changed. Other threads must have these signals blocked.
class StopSignals {
 public:
  struct Signal {
    int number = 0;
    bool sent_to_us = false;  // by kill(2) and the like, not by the terminal to its whole group
  };

  // Errors: those of signalfd(2).
  static absl::StatusOr<StopSignals> Block();
  StopSignals(StopSignals&& other) noexcept;
  StopSignals& operator=(StopSignals&&) = delete;
  ~StopSignals();

  int fd() const { return fd_.get(); }  // readable when a signal waits; non-blocking
  std::optional<Signal> Take();

 private:
  StopSignals(UniqueFd fd, const sigset_t& former);

  UniqueFd fd_;
  sigset_t former_;
};

}  // namespace profiler::target
