// Runs recording sessions one after the other, and tries again after an error.
//
//   SessionLoop loop({});
//   loop.Run([&] { … loop.RunSession(*session); … }, "recording", say);     on the loop's thread
//   loop.Stop();                                                            on any thread

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/machine/procfs/proc_file.h"
#include "src/record/session.h"

namespace profiler::agent {

// A loop whose Run occupies one thread. Other threads may call Stop and RenewSession.
class SessionLoop {
 public:
  // Pause after a failed session; doubles with each failure in a row.
  struct Waits {
    std::chrono::milliseconds first{1'000}, longest{300'000};
  };
  explicit SessionLoop(const Waits& waits) : waits_(waits) {}

  // Calls `run_session` until Stop. It creates a session and passes it to RunSession. Returns its
  // error if no session has run yet. Passes later errors to `say`, as lines for the user that
  // call the loop `name`, and tries again.
  absl::Status Run(const std::function<absl::Status()>& run_session, std::string_view name,
                   const std::function<void(std::string_view)>& say);
  // Runs a session until it ends, or until Stop or RenewSession.
  absl::Status RunSession(record::RecordSession& session);

  // Makes the current session the last one. Do not call it in a signal handler.
  void Stop();
  // Ends the current session; the next one begins at once.
  void RenewSession();

 private:
  void Publish(record::RecordSession* session);
  bool Wait(std::chrono::milliseconds time);
  bool is_stopped();

  const Waits waits_;
  bool has_run_ = false;  // True once a session has run; used on Run's thread only.
  std::mutex mutex_;
  std::condition_variable changed_;
  // mutex_ guards the two members below.
  record::RecordSession* session_ = nullptr;  // the running session, or null
  bool stopped_ = false;
};

// Returns true if a session that began at `began`, when these CPUs were online, has lasted for
// `longest`, or if other CPUs are online now.
bool IsOver(const procfs::Roots& roots, std::chrono::steady_clock::time_point began,
            std::chrono::milliseconds longest, const std::vector<int>& cpus);

}  // namespace profiler::agent
