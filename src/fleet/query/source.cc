#include "src/fleet/query/source.h"

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
  std::vector<std::string> unsaid;  // the second question has the same to say
  PROFILER_ASSIGN_OR_RETURN(
      const fleet::Sums events,
      Sums({.selection = question.selection, .by = {event}, .most = kMostEvents}, &unsaid));
  if (events.lines.empty()) return absl::NotFoundError("nothing is selected");
  const Sum& chosen = ChooseEvent(events.lines);
  SumsQuestion of_event = question;
  if (events.lines.size() > 1) {
    notes->push_back(NoteOfChoice(events.lines, chosen));
    of_event.selection.conditions.push_back({.field = event, .value = chosen.keys[0]});
  }
  answer.event = chosen.keys[0];
  PROFILER_ASSIGN_OR_RETURN(answer.sums, Sums(of_event, notes));
  return answer;
}

}  // namespace profiler::fleet
