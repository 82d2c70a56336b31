// Signals that are counted instead of having their effect.

#pragma once

#include <signal.h>

#include <array>
#include <span>

namespace profiler::cli {

// Counts these signals until the end of its scope, after which their former effect is back. One
// that is ignored stays so (nohup, a job in the background). Scopes may lie within each other: what
// an inner one counts, the outer one counts, too.
class SignalCounter {
 public:
  // `once`: the second one of a signal ends the process.
  SignalCounter(std::span<const int> signals, bool once);
  SignalCounter(const SignalCounter&) = delete;
  SignalCounter& operator=(const SignalCounter&) = delete;
  ~SignalCounter();

  // Since its scope began.
  int count() const;

 private:
  std::array<struct sigaction, NSIG> former_;
  std::span<const int> signals_;
  const int before_;  // counted by scopes around this one
};

}  // namespace profiler::cli
