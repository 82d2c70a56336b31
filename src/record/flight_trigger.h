// The events of a machine for which a flight recorder writes a file, as users type them.
//
//   exit  exit:3           a recorded process ends with a code other than 0; with this code
//   signal  signal:11      a recorded process is ended by a signal; by this one
//   cpu>90%  cpu<10%       CPU use of a second: of the recorded processes, in percent of a CPU;
//                          of the whole machine, in percent of all CPUs
//   blocked>100ms          a thread was blocked longer; needs the samples of --off-cpu
//   psi:cpu>20%            pressure: tasks waited for so much of a second (cpu, memory, io)
//   event:sched:sched_process_exec   a tracepoint, breakpoint or probe was hit

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "src/base/status.h"

namespace profiler::record {

struct FlightTrigger {
  enum class Kind : uint8_t {
    kExit,      // `number`: the exit code; -1: any but 0
    kSignal,    // `number`: the signal; -1: any
    kCpuAbove,  // `percent`
    kCpuBelow,  // `percent`
    kBlocked,   // `time`
    kPressure,  // `percent` of `name`: cpu, memory or io
    kEvent,     // `name`
  };

  Kind kind = Kind::kExit;
  int number = -1;
  double percent = 0;
  std::chrono::nanoseconds time{0};
  std::string name;
  std::string text;  // as typed, without the name of the option
  // True if the trigger is ignored for FlightOptions::cooldown after it has fired.
  bool cools_down = true;
  size_t event = 0;  // with kEvent: index of the event in RecordOptions::events
};

// Parses a trigger. Returns kInvalidArgument, a message with all spellings, for other text.
absl::StatusOr<FlightTrigger> ParseFlightTrigger(const std::string& text);

}  // namespace profiler::record
