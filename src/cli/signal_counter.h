// Signals that are counted instead of having their effect.

#pragma once

#include <signal.h>

#include <array>
#include <span>

namespace profiler::cli {

// Counts these signals until the end of its scope, after which their former effect is back. One
// that is ignored stays so (nohup, a job in the background). One at a time in a process.
class SignalCounter {
 public:
  // `once`: the second one of a signal ends the process.
  SignalCounter(std::span<const int> signals, bool once);
  SignalCounter(const SignalCounter&) = delete;
  SignalCounter& operator=(const SignalCounter&) = delete;
  ~SignalCounter();

  static int count();

 private:
  std::array<struct sigaction, NSIG> former_;
  std::span<const int> signals_;
};

}  // namespace profiler::cli
