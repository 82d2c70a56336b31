// Parses the terms that events of every PMU may have: name, sampling rate, sample contents, and
// config fields by number.
//
// Source: the config terms of tools/perf/util/parse-events.l, perf 7.2.

#pragma once

#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/machine/events/event_text.h"
#include "src/machine/events/find_events.h"

namespace profiler::events {

// Applies `term` to `event` and returns true. Returns false if it is not a sample term. Error:
// kInvalidArgument for an invalid value, and for a term that perf has and this program lacks.
// `text` is the typed text, for the error.
absl::StatusOr<bool> ApplySampleTerm(const Term& term, std::string_view text, FoundEvent* event);

std::vector<std::string_view> SampleTermNames();

}  // namespace profiler::events
