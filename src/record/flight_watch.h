// Watches for the triggers of a flight recorder, except those that are found in samples.
//
//   exit, signal   the process connector (process_ends.h); the recorded command also without it
//   cpu            /proc/PID/stat of the recorded processes, or /proc/stat, some times per second
//   psi            /proc/pressure/*, some times per second
//   blocked, event samples; FlightRecorder finds them

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/machine/procfs/proc_file.h"
#include "src/record/flight_trigger.h"
#include "src/record/process_ends.h"

namespace profiler::record {

// The share of the last second in which a growing time grew.
class ShareOfSecond {
 public:
  // Takes the whole time at `now`. Returns percent; nullopt until a second is over.
  std::optional<double> Take(std::chrono::steady_clock::time_point now,
                             std::chrono::nanoseconds whole);

 private:
  struct Entry {
    std::chrono::steady_clock::time_point when;
    std::chrono::nanoseconds whole{0};
  };
  std::deque<Entry> entries_;
};

// The watch. Use it from the thread of the io_context. Costs some /proc files five times per second
// with the triggers cpu and psi.
class FlightWatch {
 public:
  using Listener = std::function<void(const FlightTrigger& trigger, const std::string& reason)>;

  // `on_trigger` is called with the reason, for the user. `io` must outlive this object.
  FlightWatch(boost::asio::io_context& io, procfs::Roots roots, std::vector<FlightTrigger> triggers,
              Listener on_trigger);

  // Watches these processes, and those that they start; the whole machine if `pids` is empty.
  // `command` is the recorded command, one of them; 0: none. If only the end of the command itself
  // can be watched, a line of `*notes` says so. Errors: kPermissionDenied and others if the ends of
  // other processes cannot be watched; kUnimplemented if the kernel does not measure pressure.
  absl::Status Start(const std::vector<pid_t>& pids, pid_t command,
                     std::vector<std::string>* notes);
  // Takes the ends that are known by now, and stops the timer.
  void Stop();

  // Takes the end of a process.
  void TakeEnd(const ProcessEnd& end);

 private:
  struct Level {
    FlightTrigger trigger;
    ShareOfSecond share;
    bool was_reached = false;  // True if the last measurement was beyond the limit.
  };

  void Poll();
  std::optional<std::chrono::nanoseconds> WholeTime(const FlightTrigger& trigger) const;
  std::chrono::nanoseconds CpuTimeOf(pid_t pid, int depth) const;

  const procfs::Roots roots_;
  const Listener on_trigger_;
  std::vector<FlightTrigger> ends_;
  std::vector<Level> levels_;
  std::vector<pid_t> pids_;
  ProcessEnds process_ends_;
  boost::asio::steady_timer timer_;
};

}  // namespace profiler::record
