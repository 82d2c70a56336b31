// Which event a view of one event shows.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/profile/profile.h"

namespace profiler::query {

// The first event that has rows. Linear in the rows.
std::optional<profile::EventId> FirstEventWithSamples(const profile::Profile& profile);

// The events of that name; "NAME#2" is the second event of the name. Never empty. kNotFound, for a
// name that no event has, lists the recording's events.
absl::StatusOr<std::vector<profile::EventId>> EventsNamed(const profile::Profile& profile,
                                                          std::string_view name);

// The first event of that name that has rows, or the first one; for "" the first event that has
// rows, or none if no event has any. kNotFound like EventsNamed.
absl::StatusOr<std::optional<profile::EventId>> ChooseEvent(const profile::Profile& profile,
                                                            std::string_view name);

}  // namespace profiler::query
