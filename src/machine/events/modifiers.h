// Translates the letters after an event or a group for its attr.
//
//   u k h   count in user space, in the kernel, in the hypervisor; only the named ones are counted
//   H G     count on the host, in guests; only the named ones are counted
//   I       not while the CPU is idle
//   p       an address with less skid, once, twice or three times; P: with the least possible skid
//   D e     the group must always be counted; no other group may be counted at the same time
//   S W b   of a group: a sample of its leader has all counts; the group is split if it cannot be
//           counted as one; perf counts it by BPF, this program by ordinary events
//
// A group's letters apply after those of its events. They add modes to an event that names modes
// itself.
//
// Source: parse_events__modifier_list in tools/perf/util/parse-events.c, as perf 7.2 answers to it.

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/format/perf_event/attr.h"
#include "src/machine/events/event_text.h"

namespace profiler::events {

// Sets exclude_*, precise_ip, pinned and exclusive of `attr`; pinned and exclusive only for a
// leader. Error: kInvalidArgument if there are more than three 'p'; `text` is the typed text, for
// the error.
absl::Status ApplyModifiers(const Modifiers& modifiers, bool is_leader, std::string_view text,
                            perf_event::Attr* attr);

}  // namespace profiler::events
