// Counts signals instead of letting them take effect.

#pragma once

#include <signal.h>

#include <array>
#include <span>

namespace profiler::cli {

// A scope in which `signals` are counted; its end restores their former effect. Ignored signals
// stay ignored (nohup, background jobs). Scopes may be nested; the outer scope also counts signals
// that arrive in the inner one.
class SignalCounter {
 public:
  // The time in which the program must call Obeyed after the first signal. kAnyTime: no limit.
  // kObeyed: one second; otherwise the signal ends the process, because it runs code that does not
  // check the count.
  enum class Within { kAnyTime, kObeyed };
  // `once`: true if the second signal ends the process.
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
