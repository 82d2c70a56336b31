// Records without end: one session after the other, each cut into windows.
//
//   session 1  │ window │ window │ … │ last │        a new rate, other CPUs, an hour, or an error
//                                            │ gap │ session 2 │ window │ …
//
// A session lasts an hour at most: what it knows of processes and images is given back then, and
// the distance between the clocks is taken anew. The gap is what it takes to end one and to begin
// another: some tenths of a second, counted in the metrics.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/agent/agent_metrics.h"
#include "src/agent/own_cost.h"
#include "src/agent/rate_control.h"
#include "src/agent/window_namer.h"
#include "src/base/status.h"
#include "src/record/options.h"
#include "src/record/session.h"

namespace profiler::agent {

struct RecordingLoopOptions {
  // What to record. Its frequency, output and callbacks are set here. Times off the CPU go where
  // they take more than the budget at the lowest rate.
  record::RecordOptions recording;
  std::chrono::milliseconds window{10'000};
  uint64_t window_bytes = uint64_t{64} << 20;  // of a recording: it ends earlier then
  std::chrono::milliseconds session{3'600'000};
  RateBounds rates;
  double budget = 0.01;  // of all CPUs together
  // Between one that failed and the next, twice as long each time.
  std::chrono::milliseconds first_wait{1'000}, longest_wait{300'000};
  std::function<OwnCost()> read_cost = [] { return ReadOwnCost(); };

  // All are called on Run's thread.
  std::function<void(FinishedRecording)> on_recording;
  std::function<void(uint64_t frequency)> on_session;  // sampling begins
  std::function<void(std::string_view)> say;           // a line for the user
  std::function<void()> on_beat;                       // once a second while all is well
};

// Run on one thread, and the rest on any.
class RecordingLoop {
 public:
  // `kernel` and `metrics` must outlive it.
  RecordingLoop(ringbuf::Kernel& kernel, RecordingLoopOptions options, SharedMetrics& metrics);

  // Until Stop. An error only where nothing could be recorded from the start: those of
  // RecordSession::Create. Whatever goes wrong later is said, and tried again.
  absl::Status Run();

  // The window at hand is the last one. Not in a signal handler.
  void Stop();
  // The next session begins as soon as it can.
  void RenewSession();

 private:
  using Clock = std::chrono::steady_clock;

  absl::Status RunSession();
  record::RecordOptions SessionOptions();
  void EndWindow(UniqueFd file, uint64_t samples);
  bool TookTooLong() const;
  void Measure(std::chrono::nanoseconds length);
  void SayNotes(const std::vector<std::string>& notes);
  bool Wait(std::chrono::milliseconds time);
  void Publish(record::RecordSession* session);
  bool is_stopped();

  ringbuf::Kernel& kernel_;
  const RecordingLoopOptions options_;
  SharedMetrics& metrics_;
  RateControl rate_;
  std::set<std::string> said_;
  bool has_recorded_ = false;
  bool was_over_budget_ = false;
  bool off_cpu_;  // they still fit

  // Of the session at hand.
  uint64_t frequency_ = 0;
  std::vector<int> cpus_;
  Clock::time_point session_began_;
  // Of the window at hand.
  Clock::time_point began_;
  fleet::UnixTime began_at_ = 0;
  OwnCost cost_;  // at its begin
  // When the last session ended, where there was one.
  Clock::time_point ended_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Under mutex_.
  record::RecordSession* session_ = nullptr;  // that runs
  bool stopped_ = false;
};

}  // namespace profiler::agent
