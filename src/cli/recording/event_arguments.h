// The options -e, --filter, -G and --for-each-cgroup of record and stat.

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/cli/usage/command_line.h"
#include "src/machine/events/find_events.h"

namespace profiler::cli {

struct EventArguments {
  std::vector<std::string> events;   // one per -e
  std::vector<std::string> filters;  // one per --filter
  std::string cgroups;
  std::string each_cgroup;
  bool excludes_self = false;  // True: tracepoints leave out records of this process.
  bool force = false;          // True to allow return probes that may end the probed programs.
  usage::Option event_option;
  usage::Option filter_option;
};

// Adds the options; `arguments` must live as long as the command.
void AddEventOptions(usage::Command& command, const std::string& description,
                     EventArguments* arguments);

// Returns the events of all -e in their order, or the events of `defaults` without -e. A --filter
// applies to the tracepoints of the last -e before it. Static probes are searched on this machine,
// first in the program of `recorded_command`, which may be empty. Errors: those of events::FindEvents and
// CheckFilter. Returns kInvalidArgument if a return probe may end a program, if a filter has no
// tracepoint, or if there are more cgroups than events.
absl::StatusOr<std::vector<events::FoundEvent>> FindEventArguments(
    const usage::Command& command, const EventArguments& arguments,
    const std::vector<std::string>& defaults,
    const std::vector<std::string>& recorded_command = {});

}  // namespace profiler::cli
