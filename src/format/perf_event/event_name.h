// Derives the names of events from their attrs, as perf writes them, and finds generic events by
// name.
//
//   cpu-clock  cycles:u  page-faults  L1-dcache-load-misses  raw 0x1a8  mem:0x601040:w
//   tracepoint:317
//
// The letters after the last colon of "cycles:u" are modifiers: u user, k kernel, h hypervisor, p
// precise (up to ppp), H host, G guest.
//
// Thread-safe. Makes no system calls, so tracepoints and PMUs have numbers instead of names, which
// only the kernel knows. src/machine/events parses the events that a user types.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/format/perf_event/attr.h"

namespace profiler::perf_event {

// Returns a name for an event that the file does not name. Never empty. An event of a type that is
// not generic is named by numbers ("pmu12:0x3c").
std::string EventName(const Attr& attr);

// True if an event counts nothing and is opened only for records other than samples.
bool IsDummy(const Attr& attr);

// Returns type and config of a generic event of the kernel: hardware, software or cache event.
// Accepts perf's aliases (cpu-cycles, faults, cs, migrations …) and letters of either case, but no
// modifiers.
std::optional<Attr> FindKnownEvent(std::string_view name);

// Returns every name that FindKnownEvent accepts, except those of cache events.
std::vector<std::string_view> KnownEventNames();

// Returns the names of cache events: L1-dcache-loads, L1-dcache-load-misses, …
std::vector<std::string> CacheEventNames();

}  // namespace profiler::perf_event
