#include "src/cli/recording/flight_arguments.h"

#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/cli/option_values.h"
#include "src/machine/events/find_events.h"
#include "src/record/flight_trigger.h"

namespace profiler::cli {
namespace {

constexpr const char* kCompanions[] = {"--flight-size", "--flight-after", "--flight-files",
                                       "--flight-on", "--flight-cooldown"};

absl::Status Refused(std::string_view option, std::string_view with, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(option), " cannot be used with ",
                                                 std::string(with), ", ", std::string(why)));
}

// Parses a time, or returns the error in the name of the option.
absl::StatusOr<std::chrono::milliseconds> ReadTime(std::string_view option,
                                                   const std::string& text) {
  auto time = ParseDuration(text);
  if (time.ok()) return time;
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(option), ": '", text, "' is not a time; give 500ms, 10s, 5m or 1h"));
}

// perf's --overwrite keeps what fits into memory. Files are written at SIGUSR2 with
// --switch-output, and at the end.
absl::Status ReadOverwrite(record::FlightOptions* flight, record::RecordOptions* options) {
  flight->writes_end = true;
  if (!options->switch_output) return absl::OkStatus();
  if (!options->switch_output->at_signal) {
    return Refused("--overwrite", "a size or a time of --switch-output",
                   "because it writes files at SIGUSR2; pass --switch-output=signal");
  }
  if (flight->most_files == 0) flight->most_files = options->switch_output->most_files;
  options->switch_output.reset();
  return absl::OkStatus();
}

// Adds the event of a trigger behind the other events, so that each of its samples is recorded.
absl::Status AddEvent(const std::string& option, record::FlightTrigger* trigger,
                      record::RecordOptions* options) {
  auto found = events::FindEvents({}, trigger->name, events::SearchThisMachine());
  if (!found.ok()) return Prefixed(absl::StrCat(option, ": "), found.status());
  for (const events::FoundEvent& event : *found) {
    if (found->size() == 1 && event.is_sampled_each_time && event.danger.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        option, " ", trigger->text, ": give one tracepoint, breakpoint or probe, such as ",
        trigger->text == trigger->name ? "" : "event:", "sched:sched_process_exec"));
  }
  events::FoundEvent event = std::move(found->front());
  // Each occurrence counts, also with -F and -c.
  event.terms.period = 1;
  trigger->event = options->events.size();
  event.leader = trigger->event;
  options->events.push_back(std::move(event));
  return absl::OkStatus();
}

// Adds the event of perf's --switch-output-event. perf has no cool-down.
absl::StatusOr<record::FlightTrigger> AddSwitchEvent(const std::string& name,
                                                     record::RecordOptions* options) {
  record::FlightTrigger trigger{
      .kind = record::FlightTrigger::Kind::kEvent, .name = name, .text = name, .cools_down = false};
  PROFILER_RETURN_IF_ERROR(AddEvent("--switch-output-event", &trigger, options));
  return trigger;
}

absl::Status ReadTriggers(const usage::Command& command, const FlightArguments& arguments,
                          record::FlightOptions* flight, record::RecordOptions* options) {
  for (const std::string& text : arguments.triggers) {
    auto trigger = record::ParseFlightTrigger(text);
    if (!trigger.ok()) return Prefixed("--flight-on: ", trigger.status());
    if (trigger->kind == record::FlightTrigger::Kind::kBlocked && !options->off_cpu) {
      return absl::InvalidArgumentError(
          absl::StrCat("--flight-on ", text, " needs --off-cpu, which measures waits"));
    }
    if (trigger->kind == record::FlightTrigger::Kind::kBlocked &&
        trigger->time < options->off_cpu_threshold) {
      return absl::InvalidArgumentError(
          absl::StrCat("--flight-on ", text,
                       " is shorter than --off-cpu-thresh, below which waits are summed up; pass a "
                       "smaller --off-cpu-thresh"));
    }
    if (trigger->kind == record::FlightTrigger::Kind::kEvent) {
      PROFILER_RETURN_IF_ERROR(AddEvent("--flight-on", &*trigger, options));
    }
    flight->triggers.push_back(*std::move(trigger));
  }
  for (const std::string& name : arguments.switch_events) {
    PROFILER_ASSIGN_OR_RETURN(flight->triggers.emplace_back(), AddSwitchEvent(name, options));
  }
  if (command.Count("--flight-cooldown") > 0 && arguments.triggers.empty()) {
    return absl::InvalidArgumentError("--flight-cooldown needs --flight-on TRIGGER");
  }
  PROFILER_ASSIGN_OR_RETURN(flight->cooldown, ReadTime("--flight-cooldown", arguments.cooldown));
  return absl::OkStatus();
}

}  // namespace

void AddFlightOptions(usage::Command& command, const std::string& text, FlightArguments& a) {
  command.AddOption("--flight", a.time, text).ValueName("TIME");
  command
      .AddOption("--flight-size", a.size,
                 "with --flight: memory for records; if they need more, the oldest leave earlier")
      .ValueName("SIZE")
      .ShowDefault();
  command
      .AddOption("--flight-after", a.after,
                 "with --flight: record for this time after the moment, before it is written")
      .ValueName("TIME");
  const usage::Option files =
      command
          .AddOption("--flight-files", a.most_files, "with --flight: keep only the latest N files")
          .ValueName("N")
          .InRange(size_t{1}, size_t{1'000'000}, usage::InHelp::kNo);
  if (a.most_files != 0) files.ShowDefault();
  command
      .AddOption("--flight-on", a.triggers,
                 "with --flight: also write a file when this happens: exit[:CODE], "
                 "signal[:NUMBER], 'cpu>90%', 'cpu<10%', 'blocked>100ms', 'psi:cpu>20%', "
                 "event:NAME; may be given several times")
      .ValueName("TRIGGER")
      .OneValueEach();
  command
      .AddOption("--flight-cooldown", a.cooldown,
                 "with --flight-on: ignore a trigger for this time after it has fired")
      .ValueName("TIME")
      .ShowDefault();
}

void AddOverwriteOptions(usage::Command& command, FlightArguments& a) {
  command
      .AddOption("--switch-output-event", a.switch_events,
                 "start a new file at each occurrence of this tracepoint, breakpoint or probe, as "
                 "with --switch-output; with --overwrite or --flight, write a file; may be given "
                 "several times")
      .ValueName("EVENT")
      .OneValueEach();
  command.AddFlag("--overwrite", a.overwrite,
                  "keep what fits into memory, as with --flight, and write it at the end, too");
}

absl::Status ReadFlight(const usage::Command& command, const FlightArguments& arguments,
                        record::RecordOptions* options) {
  if (!arguments.is_given()) {
    for (const char* const name : kCompanions) {
      if (command.Count(name) == 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(name, " needs --flight TIME, the time to keep in memory"));
    }
    for (const std::string& name : arguments.switch_events) {
      PROFILER_ASSIGN_OR_RETURN(const record::FlightTrigger trigger, AddSwitchEvent(name, options));
      options->switch_output->events.push_back(trigger.event);
    }
    return absl::OkStatus();
  }
  const std::string_view option = arguments.time.empty() ? "--overwrite" : "--flight";
  record::FlightOptions flight{.most_files = arguments.most_files};
  if (!arguments.time.empty()) {
    PROFILER_ASSIGN_OR_RETURN(flight.before, ReadTime("--flight", arguments.time));
  }
  if (!arguments.after.empty()) {
    PROFILER_ASSIGN_OR_RETURN(flight.after, ReadTime("--flight-after", arguments.after));
  }
  const auto bytes = ParseSize(arguments.size);
  if (!bytes.ok() || *bytes < record::FlightOptions::kLeastBytes) {
    return absl::InvalidArgumentError(absl::StrCat("--flight-size: '", arguments.size,
                                                   "': give a size of at least 1M, such as 64M"));
  }
  flight.bytes = *bytes;
  if (arguments.overwrite) PROFILER_RETURN_IF_ERROR(ReadOverwrite(&flight, options));
  if (options->switch_output) {
    return Refused(option, "--switch-output",
                   "because it writes only the last records; pass one of the two");
  }
  if (options->timestamp_filename) {
    return Refused(option, "--timestamp-filename", "because its files have their time anyway");
  }
  if (options->max_bytes != 0) {
    return Refused(option, "--max-size", "because --flight-size bounds each file");
  }
  PROFILER_RETURN_IF_ERROR(ReadTriggers(command, arguments, &flight, options));
  options->flight = std::move(flight);
  return absl::OkStatus();
}

}  // namespace profiler::cli
