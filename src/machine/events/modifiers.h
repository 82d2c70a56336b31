// Translates the letters after an event or a group for its attr.
//
//   u k h   count in user space, in the kernel, in the hypervisor; only the named ones are counted
//   H G     count on the host, in guests; only the named ones are counted
//   I       not while the CPU is idle
//   p       an address with less skid; pp, ppp: with even less; P: with the least possible skid
//   D       the group must always be counted
//   e       no other group may be counted at the same time
//   S       of a group: a sample of the leader has the counts of all members
//   W       of a group: split the group if its events cannot be counted together
//   b       of a group: no effect here; perf then counts with BPF programs
//
// The letters of a group apply after the letters of its events. If an event names modes itself, the
// group's modes are added to them.
//
// Source: parse_events__modifier_list in tools/perf/util/parse-events.c, and the answers of perf
// 7.2.

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/format/perf_event/attr.h"
#include "src/machine/events/event_text.h"

namespace profiler::events {

// Sets exclude_* and precise_ip of `attr`, and, if the event is a leader, pinned and exclusive.
// Error: kInvalidArgument if there are more than three 'p'; its excerpt shows `text`, the typed
// text.
absl::Status ApplyModifiers(const Modifiers& modifiers, bool is_leader, std::string_view text,
                            perf_event::Attr* attr);

}  // namespace profiler::events
