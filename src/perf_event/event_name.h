// Names of events as perf writes them, made from an attr and parsed back into one.
//
//   cpu-clock  cycles:u  page-faults  L1-dcache-load-misses  raw 0x1a8  mem:0x601040:w
//   tracepoint:317
//              └event┘ └modifiers: u user, k kernel, h hypervisor, p precise (up to ppp), H host, G
//              guest
//
// Thread-safe. No system calls: names of tracepoints and of PMUs are the kernel's to know, so those
// go by number.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/perf_event/attr.h"

namespace profiler::perf_event {

// What to call an event whose file gives it no name. Never empty; ParseEvent reads it back, save
// for types that are neither the kernel's generic ones nor tracepoints ("pmu12:0x3c").
std::string EventName(const Attr& attr);

// Whether an event counts nothing: it is there for the records beside its samples.
bool IsDummy(const Attr& attr);

// The attr's type, config, config1 and config2 (breakpoints), exclude_* and precise_ip for a name
// that a person typed; all else is zero. Knows perf's aliases (cpu-cycles, faults, cs, migrations,
// branches, r1a8 …). kNotFound for an unknown event, with the nearest known name where one is near;
// kInvalidArgument for a bad modifier or number.
absl::StatusOr<Attr> ParseEvent(std::string_view name);

// Every name that ParseEvent knows, without cache events, raw events, breakpoints and tracepoints.
std::vector<std::string_view> KnownEventNames();

}  // namespace profiler::perf_event
