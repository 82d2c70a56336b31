// Which event a view of one event shows.

#pragma once

#include <optional>
#include <string_view>

#include "src/base/status.h"
#include "src/profile/profile.h"

namespace profiler::query {

// The first event that has rows. Linear in the rows.
std::optional<profile::EventId> FirstEventWithSamples(const profile::Profile& profile);

// The event of that name, for "" the first that has rows, or none where no event has any.
// kNotFound, for a name that no event has, lists the recording's events.
absl::StatusOr<std::optional<profile::EventId>> ChooseEvent(const profile::Profile& profile,
                                                            std::string_view name);

}  // namespace profiler::query
