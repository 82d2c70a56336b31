// An endless recording: one session after the other, each cut into windows.
//
//   session 1  │ window │ window │ … │ last │        a new rate, other CPUs, an hour, or an error
//                                            │ gap │ session 2 │ window │ …
//
// A session lasts an hour at most. The end of a session frees the memory for processes and images.
// The next session measures the offset between the clocks again. The gap is the time to end one
// session and begin the next: some tenths of a second, which the metrics count.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/base/status.h"
#include "src/fleet/agent/agent_metrics.h"
#include "src/fleet/agent/own_cost.h"
#include "src/fleet/agent/rate_control.h"
#include "src/fleet/agent/session_loop.h"
#include "src/fleet/agent/window_namer.h"
#include "src/record/options.h"

namespace profiler::agent {

struct RecordingLoopOptions {
  // Events and targets. The loop sets frequency, output and callbacks. If recording exceeds the
  // budget even at the lowest rate, the loop stops recording off-CPU times.
  record::RecordOptions recording;
  std::chrono::milliseconds window{10'000};
  // a window also ends when its recording is this large
  uint64_t window_bytes = uint64_t{64} << 20;
  std::chrono::milliseconds session{3'600'000};
  RateBounds rates;
  double budget = 0.01;  // share of all CPUs together
  // Pause after a failed session; doubles with each failure in a row.
  std::chrono::milliseconds first_wait{1'000}, longest_wait{300'000};
  std::function<OwnCost()> read_cost = [] { return ReadOwnCost(); };
  // Part of that CPU time that the budget does not bound. Returns nothing if it is unknown since
  // the previous call; the budget then ignores the window.
  std::function<std::optional<std::chrono::nanoseconds>()> read_beside = [] {
    return std::chrono::nanoseconds(0);
  };

  // All callbacks run on Run's thread.
  std::function<void(FinishedRecording)> on_recording;
  std::function<void(uint64_t frequency)> on_session;  // sampling begins
  std::function<void(std::string_view)> say;           // prints a line for the user
  std::function<void()> on_beat;                       // about once a second while recording works
};

// A loop whose Run occupies one thread. Other threads may call the other functions.
class RecordingLoop {
 public:
  // `kernel` and `metrics` must outlive the loop.
  RecordingLoop(ringbuf::Kernel& kernel, RecordingLoopOptions options, SharedMetrics& metrics);

  // Records until Stop. Returns an error of RecordSession::Create if the first session cannot
  // begin. Later errors are passed to `say`, and recording is tried again.
  absl::Status Run();

  // Makes the current window the last one. Do not call it in a signal handler.
  void Stop() { sessions_.Stop(); }
  // Ends the current session; the next one begins at once.
  void RenewSession() { sessions_.RenewSession(); }

 private:
  using Clock = std::chrono::steady_clock;

  absl::Status RunSession();
  record::RecordOptions SessionOptions();
  void EndWindow(UniqueFd file, uint64_t samples);
  void Measure(std::chrono::nanoseconds length);
  void SayNotes(const std::vector<std::string>& notes);

  ringbuf::Kernel& kernel_;
  const RecordingLoopOptions options_;
  SharedMetrics& metrics_;
  SessionLoop sessions_;
  RateControl rate_;
  std::set<std::string> said_;
  bool has_recorded_ = false;
  bool was_over_budget_ = false;
  bool off_cpu_;  // True while off-CPU times fit the CPU budget.

  // State of the current session:
  uint64_t frequency_ = 0;
  std::vector<int> cpus_;
  Clock::time_point session_began_;
  // State of the current window:
  Clock::time_point began_;
  fleet::UnixTime began_at_ = 0;
  OwnCost cost_;                                    // cost at the window's begin
  std::optional<std::chrono::nanoseconds> beside_;  // RecordingLoopOptions::read_beside then
  // Time at which the previous session ended, if there was one.
  Clock::time_point ended_;
};

}  // namespace profiler::agent
