#include "src/cli/event_arguments.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace profiler::cli {
namespace {

using events::FoundEvent;

absl::Status AppendEvents(const std::string& text, std::vector<FoundEvent>* all) {
  auto found = events::FindEvents({}, text);
  if (!found.ok()) return Prefixed("-e: ", found.status());
  const size_t before = all->size();
  for (FoundEvent& event : *found) {
    event.leader += before;
    all->push_back(std::move(event));
  }
  return absl::OkStatus();
}

// Filters the tracepoints among events from `first` on.
absl::Status AddFilter(const std::string& filter, size_t first, std::vector<FoundEvent>* events) {
  bool has_tracepoint = false;
  for (size_t i = first; i < events->size(); ++i) {
    FoundEvent& event = (*events)[i];
    if (!event.tracepoint) continue;
    PROFILER_RETURN_IF_ERROR(events::CheckFilter({}, *event.tracepoint, filter));
    event.filter = filter;
    has_tracepoint = true;
  }
  if (has_tracepoint) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--filter: '", filter, "' stands behind no -e with a tracepoint"));
}

}  // namespace

void AddEventOptions(CLI::App& command, const std::string& description, EventArguments* arguments) {
  arguments->event_option = command.add_option("-e,--event", arguments->events, description)
                                ->type_name("EVENT,…")
                                ->allow_extra_args(false);
  arguments->filter_option =
      command
          .add_option("--filter", arguments->filters,
                      "of the tracepoints before it only those whose fields are so: 'id == 1'")
          ->type_name("CONDITION")
          ->allow_extra_args(false);
}

absl::StatusOr<std::vector<FoundEvent>> FindEventArguments(
    const CLI::App& command, const EventArguments& arguments,
    const std::vector<std::string>& defaults) {
  std::vector<FoundEvent> all;
  size_t last = 0;  // where the events of the last -e begin
  auto text = arguments.events.begin();
  auto filter = arguments.filters.begin();
  for (const CLI::Option* option : command.parse_order()) {
    if (option == arguments.event_option && text != arguments.events.end()) {
      last = all.size();
      PROFILER_RETURN_IF_ERROR(AppendEvents(*text++, &all));
    } else if (option == arguments.filter_option && filter != arguments.filters.end()) {
      PROFILER_RETURN_IF_ERROR(AddFilter(*filter++, last, &all));
    }
  }
  if (!all.empty()) return all;
  for (const std::string& usual : defaults) PROFILER_RETURN_IF_ERROR(AppendEvents(usual, &all));
  return all;
}

}  // namespace profiler::cli
