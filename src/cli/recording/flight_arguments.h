// The options of the flight recorder: --flight and its companions, also for `agent`; and perf's
// --overwrite and --switch-output-event.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/cli/usage/command_line.h"
#include "src/record/options.h"

namespace profiler::cli {

// The values as typed.
struct FlightArguments {
  std::string time;
  std::string size = "64M";
  std::string after;
  size_t most_files = 0;
  std::vector<std::string> triggers;
  std::vector<std::string> switch_events;  // perf's --switch-output-event
  std::string cooldown = "1m";
  bool overwrite = false;

  // True if the recording is a flight recorder.
  bool is_given() const { return !time.empty() || overwrite; }
  // True if --switch-output-event switches files, as without a flight recorder.
  bool switches_files() const { return !switch_events.empty() && !is_given(); }
};

// Adds --flight, with this text in --help, and its companions; `arguments` must live as long as the
// command. `arguments.most_files` is the default of --flight-files; 0: all files are kept.
void AddFlightOptions(usage::Command& command, const std::string& text, FlightArguments& arguments);
// Adds perf's options.
void AddOverwriteOptions(usage::Command& command, FlightArguments& arguments);

// Converts the values to options->flight. Call it after all other options were converted. Adds the
// events of triggers to options->events. With --overwrite, replaces options->switch_output. If
// switches_files(), adds to options->switch_output, which must be set. Returns
// kInvalidArgument, a message for the user, for an invalid value and for options that do not go
// together. Other errors: those of events::FindEvents.
absl::Status ReadFlight(const usage::Command& command, const FlightArguments& arguments,
                        record::RecordOptions* options);

}  // namespace profiler::cli
