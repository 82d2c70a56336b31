// Names of events as perf writes them, made from an attr, and those that stand for one.
//
//   cpu-clock  cycles:u  page-faults  L1-dcache-load-misses  raw 0x1a8  mem:0x601040:w
//   tracepoint:317
//              └event┘ └modifiers: u user, k kernel, h hypervisor, p precise (up to ppp), H host, G
//              guest
//
// Thread-safe. No system calls: names of tracepoints and of PMUs are the kernel's to know, so those
// go by number. What a person types is read in src/events.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/perf_event/attr.h"

namespace profiler::perf_event {

// What to call an event whose file gives it no name. Never empty; a type that is none of the
// kernel's generic ones goes by number ("pmu12:0x3c").
std::string EventName(const Attr& attr);

// Whether an event counts nothing: it is there for the records beside its samples.
bool IsDummy(const Attr& attr);

// Type and config of one of the kernel's generic events, by its name or an alias of perf's
// (cpu-cycles, faults, cs, migrations …): hardware, software and cache events, without modifiers,
// in letters of either case.
std::optional<Attr> FindKnownEvent(std::string_view name);

// Every name that FindKnownEvent knows, but for those of cache events.
std::vector<std::string_view> KnownEventNames();

// Those of cache events: L1-dcache-loads, L1-dcache-load-misses, …
std::vector<std::string> CacheEventNames();

}  // namespace profiler::perf_event
