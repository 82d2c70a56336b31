// Lists all events that have a name on this machine.

#pragma once

#include <string>
#include <vector>

#include "src/machine/events/static_probes.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::events {

struct ListedEvent {
  std::string name;  // the text to pass to -e
  std::string kind;  // "hardware", "software", "cache", "PMU", "tracepoint", "static probe"
  std::string description;
};

// Returns the events whose names match the pattern (*, ?, […]); returns all events if the pattern
// is empty. The patterns "hw", "sw", "cache", "pmu" and "tracepoint" select a kind. The result is
// sorted by kind. If tracepoints cannot be read, `*note` says why.
std::vector<ListedEvent> ListEvents(const procfs::Roots& roots, const std::string& pattern,
                                    std::string* note);

// Returns the static probes, each once, sorted by name.
std::vector<ListedEvent> ListStaticProbes(const std::vector<StaticProbePlace>& places);

}  // namespace profiler::events
