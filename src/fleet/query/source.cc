#include "src/fleet/query/source.h"

#include <utility>

#include "src/fleet/query/event_rule.h"

namespace profiler::fleet {

absl::StatusOr<SumsOfEvent> Source::SumsOfOneEvent(const SumsQuestion& question,
                                                   std::vector<std::string>* notes) {
  SumsOfEvent answer;
  if (TellsEventsApart(question)) {
    PROFILER_ASSIGN_OR_RETURN(answer.sums, Sums(question, notes));
    return answer;
  }
  constexpr size_t kMostEvents = 1000;
  const FieldName event = {.field = Field::kEvent, .label = {}};
  // Notes of this question. They are dropped, because the next question yields the same notes.
  std::vector<std::string> unsaid;
  PROFILER_ASSIGN_OR_RETURN(
      const std::vector<Sum> events,
      Lines({.selection = question.selection, .by = {event}, .most = kMostEvents}, &unsaid));
  if (events.empty()) return absl::NotFoundError("nothing is selected");
  const Sum& chosen = ChooseEvent(events);
  SumsQuestion of_event = question;
  if (events.size() > 1) {
    notes->push_back(NoteOfChoice(events, chosen));
    of_event.selection.conditions.push_back({.field = event, .value = chosen.keys[0]});
  }
  answer.event = chosen.keys[0];
  PROFILER_ASSIGN_OR_RETURN(answer.sums.lines, Lines(of_event, notes));
  answer.sums.samples = chosen.samples;
  answer.sums.value = chosen.value;
  return answer;
}

absl::StatusOr<std::vector<Sum>> Source::Lines(const SumsQuestion& question,
                                               std::vector<std::string>* notes) {
  PROFILER_ASSIGN_OR_RETURN(fleet::Sums sums, Sums(question, notes));
  return std::move(sums.lines);
}

}  // namespace profiler::fleet
