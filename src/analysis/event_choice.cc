#include "src/analysis/event_choice.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/text.h"

namespace profiler::analysis {

using profile::EventId;
using profile::Profile;

std::optional<EventId> FirstEventWithSamples(const Profile& profile) {
  std::optional<EventId> first;
  for (const profile::Row& row : profile.rows) {
    if (row.count != 0 && (!first || row.event < *first)) first = row.event;
  }
  return first;
}

absl::StatusOr<std::vector<EventId>> EventsNamed(const Profile& profile, std::string_view name) {
  std::vector<EventId> named, numbered;
  std::vector<std::string> known;
  for (uint32_t i = 0; i < profile.events.size(); ++i) {
    const std::string_view own = profile.text(profile.events[i].name);
    size_t same = 0, before = 0;
    for (uint32_t j = 0; j < profile.events.size(); ++j) {
      if (profile.events[j].name != profile.events[i].name) continue;
      ++same;
      before += j < i;
    }
    const std::string number = absl::StrCat(View(own), "#", before + 1);
    known.push_back(same > 1 ? number : std::string(own));
    if (own == name) named.push_back(EventId{i});
    if (number == name) numbered.push_back(EventId{i});
  }
  if (!named.empty()) return named;
  if (!numbered.empty()) return numbered;
  return absl::NotFoundError(absl::StrCat("--event: the recording has no '", View(name), "', but ",
                                          absl::StrJoin(known, ", ")));
}

absl::StatusOr<std::optional<EventId>> ChooseEvent(const Profile& profile, std::string_view name) {
  if (name.empty()) return FirstEventWithSamples(profile);
  auto named = EventsNamed(profile, name);
  if (!named.ok()) return named.status();
  for (const EventId event : *named) {
    const bool has_rows =
        std::any_of(profile.rows.begin(), profile.rows.end(),
                    [&](const profile::Row& row) { return row.event == event && row.count != 0; });
    if (has_rows) return event;
  }
  return named->front();
}

}  // namespace profiler::analysis
