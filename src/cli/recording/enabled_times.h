// Samples only during given times of a recording, as `perf record -D 10-20,30-40` does.
//
//   TimedControl ──"enable", "disable"──▶ pipe ──▶ the recording's control
//                ◀───────"ack"─────────── pipe ◀──
//
// The recording needs nothing for it but its control (src/machine/target/control.h).

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "src/base/pipe.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/machine/target/control.h"

namespace profiler::cli {

// A time in which samples are taken, since the start of the recording.
struct EnabledTime {
  std::chrono::milliseconds from{0}, to{0};

  bool operator==(const EnabledTime&) const = default;
};

// True if the value of -D is a list of times, "10-20,30-40", and not a delay.
bool IsEnabledTimes(const std::string& text);

// Parses the list. Returns kInvalidArgument for other text, and for times that are empty or do not
// follow each other.
absl::StatusOr<std::vector<EnabledTime>> ParseEnabledTimes(const std::string& text);

// A thread that enables and disables sampling at these times. They begin when the recording first
// obeys its control.
class TimedControl {
 public:
  // Errors: those of pipe2(2) and eventfd(2).
  static absl::StatusOr<std::unique_ptr<TimedControl>> Start(std::vector<EnabledTime> times);
  TimedControl(const TimedControl&) = delete;
  TimedControl& operator=(const TimedControl&) = delete;
  // Ends the thread, whatever it waits for.
  ~TimedControl();

  // The descriptors for the recording, which copies them.
  target::ControlPlaces places() const;

 private:
  TimedControl() = default;
  void Run(const std::vector<EnabledTime>& times);
  // Both return false if the thread is to end.
  bool WaitUntil(std::chrono::steady_clock::time_point time);
  bool AwaitAnswer();
  bool Say(const char* line);

  Pipe commands_, answers_;
  UniqueFd end_;  // readable once the thread is to end
  std::thread thread_;
};

}  // namespace profiler::cli
