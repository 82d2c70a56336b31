#include "src/cli/recording/event_arguments.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/cli/option_values.h"
#include "src/machine/target/child_command.h"

namespace profiler::cli {
namespace {

using events::FoundEvent;

absl::Status AppendEvents(const std::string& text, const events::ProbeSearch& search,
                          std::vector<FoundEvent>* all) {
  auto found = events::FindEvents({}, text, search);
  if (!found.ok()) return Prefixed("-e: ", found.status());
  const size_t before = all->size();
  for (FoundEvent& event : *found) {
    event.leader += before;
    all->push_back(std::move(event));
  }
  return absl::OkStatus();
}

// Refuses return probes that may end the probed program. The event of such a probe is named
// "/bin/x:f%return".
absl::Status RefuseDanger(const std::vector<FoundEvent>& events) {
  for (const FoundEvent& event : events) {
    if (event.danger.empty()) continue;
    const std::string function = event.name.substr(0, event.name.rfind("%return"));
    return absl::InvalidArgumentError(absl::StrCat(
        "-e: ", event.name, " may end the program that is probed: ", event.danger, ". Probe ",
        function, ", its entry, or its return instructions by their offsets, ", function,
        "+OFFSET; --force puts the return probe there all the same"));
  }
  return absl::OkStatus();
}

// Filters the tracepoints among the events from `first` on.
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

// Filters out the records of this process. Returns kInvalidArgument if there is no tracepoint.
absl::Status ExcludeSelf(std::vector<FoundEvent>* events) {
  const std::string filter = absl::StrCat("common_pid != ", getpid());
  bool has_tracepoint = false;
  for (FoundEvent& event : *events) {
    if (!event.tracepoint) continue;
    has_tracepoint = true;
    event.filter =
        event.filter.empty() ? filter : absl::StrCat("(", event.filter, ") && (", filter, ")");
  }
  if (has_tracepoint) return absl::OkStatus();
  return absl::InvalidArgumentError("--exclude-perf: no -e has a tracepoint");
}

// Sets the cgroups. A single name applies to all events. Of several names, each applies to the
// event at the same position, and an empty name means no cgroup.
absl::Status SetCgroups(const std::string& list, std::vector<FoundEvent>* events) {
  const std::vector<std::string> names = absl::StrSplit(list, ',');
  if (names.size() > events->size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("-G: ", names.size(), " cgroups for ", events->size(), " events"));
  }
  for (size_t i = 0; i < events->size(); ++i) {
    if (names.size() == 1) (*events)[i].cgroup = names.front();
    if (names.size() > 1 && i < names.size()) (*events)[i].cgroup = names[i];
  }
  return absl::OkStatus();
}

std::vector<FoundEvent> ForEachCgroup(const std::string& list,
                                      const std::vector<FoundEvent>& events) {
  std::vector<FoundEvent> all;
  for (const std::string& name : SplitList(list)) {
    const size_t before = all.size();
    for (const FoundEvent& event : events) {
      FoundEvent& in_cgroup = all.emplace_back(event);
      in_cgroup.leader += before;
      in_cgroup.cgroup = name;
    }
  }
  return all;
}

// Repeats the events for each cgroup. Their names contain the cgroup, because all views distinguish
// events by name.
absl::StatusOr<std::vector<FoundEvent>> InCgroups(const EventArguments& arguments,
                                                  std::vector<FoundEvent> events) {
  if (!arguments.cgroups.empty() && !arguments.each_cgroup.empty()) {
    return absl::InvalidArgumentError("-G: --for-each-cgroup does not go with it");
  }
  if (!arguments.cgroups.empty()) {
    PROFILER_RETURN_IF_ERROR(SetCgroups(arguments.cgroups, &events));
  }
  if (!arguments.each_cgroup.empty()) events = ForEachCgroup(arguments.each_cgroup, events);
  for (FoundEvent& event : events) {
    if (!event.cgroup.empty()) absl::StrAppend(&event.name, " in ", event.cgroup);
  }
  return events;
}

}  // namespace

void AddEventOptions(usage::Command& command, const std::string& description,
                     EventArguments* arguments) {
  arguments->event_option = command.AddOption("-e,--event", arguments->events, description)
                                .ValueName("EVENT,…")
                                .OneValueEach();
  arguments->filter_option =
      command
          .AddOption("--filter", arguments->filters,
                     "of the tracepoints before it only those whose fields are so: 'id == 1'")
          .ValueName("CONDITION")
          .OneValueEach();
  command
      .AddOption("-G,--cgroup", arguments->cgroups,
                 "only what runs in these cgroups, one for each event, or one for all; with -a")
      .ValueName("NAME,…");
  command
      .AddOption("--for-each-cgroup", arguments->each_cgroup,
                 "all events once for each of these cgroups; with -a")
      .ValueName("NAME,…");
  command.AddFlag("--force", arguments->force,
                  "put return probes (%return) also where they may end the program");
}

absl::StatusOr<std::vector<FoundEvent>> FindEventArguments(
    const usage::Command& command, const EventArguments& arguments,
    const std::vector<std::string>& defaults, const std::vector<std::string>& recorded_command) {
  events::ProbeSearch search = events::SearchThisMachine();
  if (!recorded_command.empty()) {
    search.program = target::FindProgram(recorded_command.front()).value_or("");
  }
  std::vector<FoundEvent> all;
  size_t last = 0;  // index of the first event of the last -e
  auto text = arguments.events.begin();
  auto filter = arguments.filters.begin();
  for (const usage::Option option : command.GivenOptions()) {
    if (option == arguments.event_option && text != arguments.events.end()) {
      last = all.size();
      PROFILER_RETURN_IF_ERROR(AppendEvents(*text++, search, &all));
    } else if (option == arguments.filter_option && filter != arguments.filters.end()) {
      PROFILER_RETURN_IF_ERROR(AddFilter(*filter++, last, &all));
    }
  }
  if (all.empty()) {
    for (const std::string& usual : defaults) {
      PROFILER_RETURN_IF_ERROR(AppendEvents(usual, search, &all));
    }
  }
  if (arguments.excludes_self) PROFILER_RETURN_IF_ERROR(ExcludeSelf(&all));
  if (!arguments.force) PROFILER_RETURN_IF_ERROR(RefuseDanger(all));
  return InCgroups(arguments, std::move(all));
}

}  // namespace profiler::cli
