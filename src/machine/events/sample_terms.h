// Parses the terms that events of every PMU may have: name, sampling rate, sample contents, and
// raw values of the config fields.
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
// kInvalidArgument if the value is invalid, or if this program lacks a term that perf has; its
// excerpt shows `text`, the typed text.
absl::StatusOr<bool> ApplySampleTerm(const Term& term, std::string_view text, FoundEvent* event);

std::vector<std::string_view> SampleTermNames();

}  // namespace profiler::events
