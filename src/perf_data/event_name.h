// The name of an event, made from its attr: for files that do not name their events.

#pragma once

#include <string>

#include "src/perf_event/attr.h"

namespace profiler::perf_data {

// As perf would call it: "cycles:u", "cpu-clock", "L1-dcache-load-misses", "raw 0x1c2",
// "mem:0x4010:rw", "tracepoint 312", "pmu 11/config=0x2/".
std::string EventName(const perf_event::Attr& attr);

}  // namespace profiler::perf_data
