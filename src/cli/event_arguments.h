// -e, --filter, -G and --for-each-cgroup of record and stat.

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/events/find_events.h"
#include "src/usage/command_line.h"

namespace profiler::cli {

struct EventArguments {
  std::vector<std::string> events;   // of each -e
  std::vector<std::string> filters;  // of each --filter
  std::string cgroups;
  std::string each_cgroup;
  bool force = false;  // return probes as well that may end the programs
  usage::Option event_option;
  usage::Option filter_option;
};

// Adds the options; `arguments` must live as long as the command.
void AddEventOptions(usage::Command& command, const std::string& description,
                     EventArguments* arguments);

// The events of all -e, or of `defaults` where there is none, in their order. A --filter is that of
// the tracepoints of the last -e before it. Errors: those of events::FindEvents and CheckFilter;
// kInvalidArgument for a return probe that may end a program, for a filter without a tracepoint,
// and for more cgroups than events.
absl::StatusOr<std::vector<events::FoundEvent>> FindEventArguments(
    const usage::Command& command, const EventArguments& arguments,
    const std::vector<std::string>& defaults);

}  // namespace profiler::cli
