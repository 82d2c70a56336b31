#include "src/fleet/query/event_rule.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/analysis/amount.h"
#include "src/format/perf_event/off_cpu_events.h"

namespace profiler::fleet {
namespace {

// Returns a sort key; preferred events have lower keys.
auto RankOf(const Sum& of) {
  const bool is_time = analysis::IsTime(of.keys[0]);
  return std::tuple(IsOffCpuEvent(of.keys[0]), !is_time, ~(is_time ? of.value : of.samples),
                    of.keys[0]);
}

}  // namespace

const Sum& ChooseEvent(std::span<const Sum> events) {
  return *std::ranges::min_element(
      events, [](const Sum& a, const Sum& b) { return RankOf(a) < RankOf(b); });
}

std::string NoteOfChoice(std::span<const Sum> events, const Sum& chosen) {
  std::vector<std::string> others;
  for (const Sum& of : events) {
    if (&of != &chosen) others.push_back(of.keys[0]);
  }
  std::ranges::sort(others);
  return absl::StrCat("only ", chosen.keys[0], " is counted, not ", absl::StrJoin(others, ", "),
                      "; pass --where event=NAME for another event, or --by event for all");
}

bool TellsEventsApart(const SumsQuestion& question) {
  return std::ranges::any_of(question.by,
                             [](const FieldName& name) { return name.field == Field::kEvent; });
}

}  // namespace profiler::fleet
