// profiler list

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ringbuf/kernel.h"
#include "src/cli/command.h"
#include "src/cli/perf_options.h"
#include "src/cli/terminal/output.h"
#include "src/format/perf_event/attr_codec.h"
#include "src/machine/events/find_events.h"
#include "src/machine/events/list_events.h"
#include "src/machine/events/static_probes.h"

namespace profiler::cli {
namespace {

struct ListArguments {
  std::vector<std::string> patterns;
  bool json = false;
  bool no_descriptions = false;
};

// True if this user can count the event here and now. Opens the event to find out. Tracepoints and
// static probes are not opened: those in the list exist, and opening thousands would take seconds.
bool Works(const events::ListedEvent& event) {
  if (event.kind == "tracepoint" || event.kind == "static probe") return true;
  const auto found = events::FindEvents({}, event.name);
  if (!found.ok()) return false;
  perf_event::Attr attr = found->front().attr;
  attr.flags |= perf_event::kAttrDisabled;
  for (const uint64_t excluded :
       {uint64_t{0}, perf_event::kAttrExcludeKernel | uint64_t{perf_event::kAttrExcludeHv}}) {
    attr.flags |= excluded;
    const perf_event_attr kernel_attr = perf_event::ToKernelAttr(attr);
    // PMUs that serve several CPUs count per CPU, not per thread.
    if (ringbuf::LinuxKernel().OpenEvent(kernel_attr, 0, -1, -1).ok()) return true;
    const int cpu = found->front().cpus.empty() ? 0 : found->front().cpus.front();
    if (ringbuf::LinuxKernel().OpenEvent(kernel_attr, -1, cpu, -1).ok()) return true;
  }
  return false;
}

std::string TextOf(const events::ListedEvent& event, bool works, bool no_descriptions) {
  const std::string what = no_descriptions || event.description.empty()
                               ? event.kind
                               : absl::StrCat(event.kind, ": ", event.description);
  return absl::StrFormat("  %-44s [%s]%s\n", event.name, what, works ? "" : " (not here)");
}

std::string JsonOf(const events::ListedEvent& event, bool works) {
  const nlohmann::ordered_json object = {{"EventName", event.name},
                                         {"EventType", event.kind},
                                         {"BriefDescription", event.description},
                                         {"Works", works}};
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// Returns the events that a pattern selects. "sdt" selects the static probes of all programs, and a
// path those of one file.
absl::StatusOr<std::vector<events::ListedEvent>> EventsOf(const std::string& pattern,
                                                          std::string* note) {
  if (pattern == "sdt") {
    events::StaticProbeFinder finder({}, events::SearchThisMachine());
    return events::ListStaticProbes(finder.All());
  }
  if (pattern.starts_with('/') || pattern.starts_with("./") || pattern.starts_with("../")) {
    PROFILER_ASSIGN_OR_RETURN(const auto places, events::ReadStaticProbes(pattern));
    if (places.empty()) {
      return absl::NotFoundError(absl::StrCat(pattern, " has no static probes; -e ", pattern,
                                              ":FUNCTION probes any of its functions"));
    }
    return events::ListStaticProbes(places);
  }
  return events::ListEvents({}, pattern, note);
}

int List(ListArguments arguments) {
  if (arguments.patterns.empty()) arguments.patterns.emplace_back();
  Output output("-");
  size_t listed = 0;
  std::string note;
  absl::Status failed;
  if (arguments.json) output.Write("[\n");
  for (const std::string& pattern : arguments.patterns) {
    const auto events = EventsOf(pattern, &note);
    if (!events.ok()) {
      failed = Prefixed("list: ", events.status());
      continue;
    }
    for (const events::ListedEvent& event : *events) {
      const bool works = Works(event);
      if (arguments.json) {
        output.Write(absl::StrCat(listed == 0 ? "" : ",\n", JsonOf(event, works)));
      } else {
        output.Write(TextOf(event, works, arguments.no_descriptions));
      }
      ++listed;
    }
  }
  if (arguments.json) output.Write("\n]\n");
  const absl::Status written = output.Close();
  if (!written.ok()) PrintError(written);
  if (!note.empty()) PrintWarning(note);
  if (!failed.ok()) {
    PrintError(failed);
  } else if (listed == 0) {
    PrintError("list: no event fits");
  }
  return written.ok() && failed.ok() && listed > 0 ? kExitOk : kExitFailure;
}

}  // namespace

void AddListCommand(usage::Command& app, Commands& commands) {
  usage::Command& command =
      app.AddCommand("list", "List the events that can be counted and sampled");
  command.SetFooter(
      "Beside these: rNNN, PMU/term=…/, mem:ADDRESS, PATH:SYMBOL[+OFFSET][%return] of any "
      "program, [PATH:]%PROVIDER:NAME.\n"
      "\"(not here)\": this machine, or this user, cannot count it.");
  auto arguments = std::make_shared<ListArguments>();
  command.AddOption("PATTERN", arguments->patterns,
                    "names with *, ? and […], or hw, sw, cache, pmu, tracepoint, sdt, or the path "
                    "of a program: its static probes");
  command.AddFlag("-j,--json", arguments->json, "JSON");
  command.AddFlag("--no-desc", arguments->no_descriptions, "leave out descriptions");
  AddIgnoredOption(command, "-d,--desc", nullptr, "descriptions are shown; see --no-desc");
  commands[&command] = [arguments] { return List(*arguments); };
}

}  // namespace profiler::cli
