// Chooses the event for a view that shows one event.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/profile/profile.h"

namespace profiler::analysis {

// Returns the first event that has rows. Linear in the rows.
std::optional<profile::EventId> FirstEventWithSamples(const profile::Profile& profile);

// Returns the events with that name, at least one; "NAME#2" is the second event with the name. If
// no event has the name, returns kNotFound with a list of the recording's events.
absl::StatusOr<std::vector<profile::EventId>> EventsNamed(const profile::Profile& profile,
                                                          std::string_view name);

// Returns the first event with that name that has rows, or else the first event with that name. For
// "" returns the first event that has rows, or nothing if no event has any. Returns kNotFound like
// EventsNamed.
absl::StatusOr<std::optional<profile::EventId>> ChooseEvent(const profile::Profile& profile,
                                                            std::string_view name);

}  // namespace profiler::analysis
