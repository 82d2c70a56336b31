// What the letters behind an event or a group mean for its attr.
//
//   u k h   count in user space, in the kernel, in the hypervisor: naming one leaves the others out
//   H G     on the host, in guests: likewise
//   I       not while the CPU is idle
//   p       an address with less skid, once, twice or thrice; P: with the least that there is
//   D e     a group that must always be counted; that no other may be counted beside
//   S W b   of a group: a sample of its leader carries all counts; a group that is given up where
//           it cannot be counted as one; counted by BPF, which we do by ordinary events
//
// A group's letters come on top of those of its events: where these have named modes already, the
// group's add to them.
//
// Source: parse_events__modifier_list in tools/perf/util/parse-events.c, as perf 7.2 answers to it.

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/events/event_text.h"
#include "src/perf_event/attr.h"

namespace profiler::events {

// Sets exclude_*, precise_ip, pinned and exclusive of `attr`. Pinned and exclusive are the
// leader's alone. kInvalidArgument where the levels of 'p' come to more than 3; `text` is what was
// typed, for the error.
absl::Status ApplyModifiers(const Modifiers& modifiers, bool is_leader, std::string_view text,
                            perf_event::Attr* attr);

}  // namespace profiler::events
