// Counts signals instead of letting them take effect.

#pragma once

#include <signal.h>

#include <array>
#include <span>

namespace profiler::cli {

// A scope in which signals are only counted. The end of the scope restores their former effect.
// Ignored signals stay ignored (nohup, background jobs). Scopes may be nested; the outer scope also
// counts signals that arrive in the inner scope.
class SignalCounter {
 public:
  // The time that the program has to react to a counted signal.
  //
  //   kAnyTime   no limit
  //   kObeyed    one second: if the program has not called Obeyed by then, the process ends,
  //              because it seems to run code that does not check the count
  enum class Within { kAnyTime, kObeyed };
  // Begins to count `signals`. If `once` is true, only the first signal is counted, and a second
  // one ends the process.
  SignalCounter(std::span<const int> signals, bool once, Within within = Within::kAnyTime);
  SignalCounter(const SignalCounter&) = delete;
  SignalCounter& operator=(const SignalCounter&) = delete;
  ~SignalCounter();

  // Returns the number of signals since the scope began.
  int count() const;

  // Reports that the program is about to obey the signal.
  void Obeyed() const;

 private:
  std::array<struct sigaction, NSIG> former_;
  std::span<const int> signals_;
  const int before_;  // count when the scope began
  const Within within_;
};

}  // namespace profiler::cli
