// Terms that every event may have, whatever PMU counts it: its name, how often it is sampled, what
// its samples carry, and config fields by number.
//
// Source: the config terms of tools/perf/util/parse-events.l, as perf 7.2 knows them.

#pragma once

#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/events/event_text.h"
#include "src/events/find_events.h"

namespace profiler::events {

// Whether `term` is one of them; if so, it is in `event`. kInvalidArgument for a value that it
// cannot have, and for terms of perf's that mean nothing here; `text` is what was typed.
absl::StatusOr<bool> ApplySampleTerm(const Term& term, std::string_view text, FoundEvent* event);

std::vector<std::string_view> SampleTermNames();

}  // namespace profiler::events
