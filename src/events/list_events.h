// All events that this machine has a name for.

#pragma once

#include <string>
#include <vector>

#include "src/procfs/proc_file.h"

namespace profiler::events {

struct ListedEvent {
  std::string name;  // as -e takes it
  std::string kind;  // "hardware", "software", "cache", "PMU", "tracepoint"
  std::string description;
};

// Whose names fit the pattern (*, ?, […]), or all where it is empty; "hw", "sw", "cache", "pmu" and
// "tracepoint" stand for a kind. In the order of kinds. Where tracepoints cannot be read, `*note`
// says why.
std::vector<ListedEvent> ListEvents(const procfs::Roots& roots, const std::string& pattern,
                                    std::string* note);

}  // namespace profiler::events
