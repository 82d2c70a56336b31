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
  // `once`: the second one of a signal ends the process. With kObeyed, so does the first if Obeyed
  // is not called within a second: what the process is doing does not look at the count.
  enum class Within { kAnyTime, kObeyed };
  SignalCounter(std::span<const int> signals, bool once, Within within = Within::kAnyTime);
  SignalCounter(const SignalCounter&) = delete;
  SignalCounter& operator=(const SignalCounter&) = delete;
  ~SignalCounter();

  // Since its scope began.
  int count() const;

  // Says that the program is about to do what the signal asks for.
  void Obeyed() const;

 private:
  std::array<struct sigaction, NSIG> former_;
  std::span<const int> signals_;
  const int before_;  // counted by scopes around this one
  const Within within_;
};

}  // namespace profiler::cli
