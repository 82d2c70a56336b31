// The flight recorder of the agent: records this machine at a high rate into memory, and writes the
// last seconds to a file when a trigger fires (src/record/flight_recorder.h).
//
//   SPOOL/moments/perf.data.2026112307450240   a moment; recordings, which every view reads
//   SPOOL/moments/perf.data.part               the file that is being written
//
// A session lasts a day at most, or until other CPUs are online. The next session begins without
// the last seconds of the previous one.

#pragma once

#include <time.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/base/status.h"
#include "src/fleet/agent/session_loop.h"
#include "src/profile/naming/naming_queue.h"
#include "src/record/options.h"

namespace profiler::agent {

struct MomentLoopOptions {
  // Events, targets, rate and `flight`. The loop sets the file's name and callbacks.
  record::RecordOptions recording;
  std::string directory;         // created if it is missing; no other process writes there
  size_t most_files = 10;        // the latest ones, also of earlier runs
  naming::NamingOptions naming;  // of functions; with `inlines` also of inlined calls
  std::chrono::milliseconds session{86'400'000};
  SessionLoop::Waits waits;

  // Both run on Run's thread.
  std::function<void()> on_session;           // sampling begins
  std::function<void(std::string_view)> say;  // prints a line for the user
};

// A loop whose Run occupies one thread. Other threads may call the other functions.
class MomentLoop {
 public:
  // `kernel` must outlive the loop.
  MomentLoop(ringbuf::Kernel& kernel, MomentLoopOptions options);

  // Records until Stop, and then waits at most some seconds for names of the last files. Returns an
  // error of OpenOwnDirectory, or of RecordSession::Create, if the first session cannot begin.
  // Later errors are passed to `say`, and recording is tried again.
  absl::Status Run();
  // Ends the recording. Do not call it in a signal handler.
  void Stop() { sessions_.Stop(); }

  // Returns the CPU time of Run's thread so far. Returns nothing if a file was written or named
  // since the previous call, because other threads and processes took part.
  std::optional<std::chrono::nanoseconds> SteadyCpuTime();

 private:
  absl::Status RunSession();
  void Take(record::CompleteFile file, naming::NamingQueue& queue);
  void RemoveAllBut(size_t most);
  void SayOnce(const std::vector<std::string>& lines);
  void ShowQueue(naming::NamingQueue* queue);

  ringbuf::Kernel& kernel_;
  const MomentLoopOptions options_;
  SessionLoop sessions_;
  std::set<std::string> said_;
  // State of the current session:
  std::vector<int> cpus_;
  std::chrono::steady_clock::time_point began_;

  std::mutex mutex_;
  // mutex_ guards all members below.
  std::optional<clockid_t> clock_;        // CPU time of Run's thread, while it runs
  std::chrono::nanoseconds cpu_time_{0};  // of Run's thread, at its end
  naming::NamingQueue* queue_ = nullptr;  // of the current session, or null
  bool has_written_ = false;              // True if a file was written since SteadyCpuTime.
};

}  // namespace profiler::agent
