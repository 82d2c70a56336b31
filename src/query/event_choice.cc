#include "src/query/event_choice.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/text.h"

namespace profiler::query {

using profile::EventId;
using profile::Profile;

std::optional<EventId> FirstEventWithSamples(const Profile& profile) {
  std::optional<EventId> first;
  for (const profile::Row& row : profile.rows) {
    if (row.count != 0 && (!first || row.event < *first)) first = row.event;
  }
  return first;
}

absl::StatusOr<std::optional<EventId>> ChooseEvent(const Profile& profile, std::string_view name) {
  if (name.empty()) return FirstEventWithSamples(profile);
  std::vector<std::string> known;
  for (uint32_t i = 0; i < profile.events.size(); ++i) {
    known.emplace_back(profile.text(profile.events[i].name));
    if (known.back() == name) return EventId{i};
  }
  return absl::NotFoundError(absl::StrCat("--event: the recording has no '", View(name), "', but ",
                                          absl::StrJoin(known, ", ")));
}

}  // namespace profiler::query
