// profiler report

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/analysis/derived_columns.h"
#include "src/analysis/event_choice.h"
#include "src/analysis/latency.h"
#include "src/analysis/stack_edits.h"
#include "src/analysis/wall_clock.h"
#include "src/base/off_cpu_events.h"
#include "src/cli/command.h"
#include "src/cli/files/describe_recording.h"
#include "src/cli/files/dump_command.h"
#include "src/cli/files/export_formats.h"
#include "src/cli/fleet/fleet_recording.h"
#include "src/cli/recording/thread_counters.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/event_groups.h"
#include "src/cli/views/page_view.h"
#include "src/cli/views/report_arguments.h"
#include "src/cli/views/report_tasks.h"
#include "src/cli/views/tracepoint_texts.h"
#include "src/cli/views/view.h"
#include "src/format/perf_data/format/feature_values.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/describe.h"
#include "src/format/perf_event/event_name.h"
#include "src/views/report/chains.h"
#include "src/views/report/header.h"
#include "src/views/report/names.h"
#include "src/views/report/report.h"
#include "src/views/report/report_json.h"

namespace profiler::cli {
namespace {

// Checks that the options fit a recording with or without branch stacks.
absl::Status CheckBranches(const ReportArguments& arguments, const report::ReportOptions& options,
                           const profile::Profile& profile) {
  const bool has = std::any_of(profile.events.begin(), profile.events.end(),
                               [](const profile::Event& event) { return event.branch_stacks; });
  if (has && arguments.total_cycles) {
    return absl::FailedPreconditionError(
        "--total-cycles: blocks are not put together of branches here: use --sort "
        "symbol_from,symbol_to,cycles");
  }
  if (has) return absl::OkStatus();
  if (std::any_of(options.sort.begin(), options.sort.end(), report::IsOfBranch)) {
    return absl::InvalidArgumentError(
        "--sort " + arguments.sort +
        ": keys of branches take samples with branch stacks (perf record -b), no "
        "--no-branch-stack, and no cpu, srcline, srcfile or symoff beside them");
  }
  if (!arguments.branch_stack) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "--branch-stack: no sample has a branch stack (perf record -b)");
}

// Returns the recording's event groups. If it has none and --group or --no-group is given, all
// events are one group, as in perf.
std::vector<report::EventGroup> GroupsOf(const perf_data::Recording& recording,
                                         const ReportArguments& arguments) {
  std::vector<report::EventGroup> groups = EventGroupsOf(recording);
  if (groups.empty() && (arguments.group || arguments.no_group)) {
    report::EventGroup& all = groups.emplace_back();
    for (uint32_t event = 0; event < recording.events().size(); ++event) {
      all.events.push_back(profile::EventId{event});
    }
  }
  return groups;
}

struct EventCount {
  uint64_t samples = 0, lost = 0;
};

// If samples contain the counters of a group, counts each sample once for every member whose
// counter has changed, as perf does. Does nothing for a pipe, which cannot be read again.
void CountMembers(const std::string& input, const perf_data::Recording& recording,
                  std::vector<EventCount>& by_event) {
  const bool reads_groups =
      std::any_of(recording.events().begin(), recording.events().end(), [](const auto& event) {
        return (event.attr.sample_type & perf_event::kSampleRead) != 0 &&
               (event.attr.read_format & perf_event::kFormatGroup) != 0;
      });
  if (!reads_groups || !perf_data::CanBeReadAgain(input)) return;
  const auto loaded = naming::LoadUnnamedProfile(input, {.open = OpenOptionsFor()});
  if (!loaded.ok()) return;
  const auto& events = loaded->profile.events;
  by_event.resize(std::max(by_event.size(), events.size()));
  for (size_t i = 0; i < events.size(); ++i) by_event[i].samples = events[i].samples;
}

// Returns the text of --stats: counts of record types in order of their numbers, then the samples
// of each event. If an error ends the reading early, sets `*reading` to it.
std::string StatsOf(const std::string& input, perf_data::Recording& recording,
                    absl::Status* reading) {
  std::map<uint32_t, uint64_t> by_type;
  std::vector<EventCount> by_event;
  const auto count = [&](const perf_data::TimedRecord& record) {
    const uint32_t type = record.record.type();
    ++by_type[type];
    if (type != perf_event::kRecordSample && type != perf_event::kRecordLostSamples) return;
    if (record.event >= by_event.size()) by_event.resize(record.event + 1);
    perf_event::LostSamples lost;
    if (type == perf_event::kRecordSample) {
      ++by_event[record.event].samples;
    } else if (record.event < recording.events().size() &&
               Decode(record.record, recording.events()[record.event].layout, &lost)) {
      by_event[record.event].lost += lost.lost;
    }
  };
  *reading = recording.ForEach(perf_data::Recording::Order::kStored, count);

  CountMembers(input, recording, by_event);
  std::vector<report::RecordCount> records;
  for (const auto& [type, count] : by_type) {
    std::string name(perf_event::RecordTypeName(type));
    records.push_back({name.empty() ? absl::StrCat("type ", type) : name, count});
  }
  std::vector<report::RecordCount> events;
  for (size_t i = 0; i < by_event.size() && i < recording.events().size(); ++i) {
    events.push_back({recording.events()[i].name, by_event[i].samples, by_event[i].lost});
  }
  return report::FormatStats(records, events);
}

int WriteStats(const ReportArguments& arguments) {
  const auto recording = OpenRecordingOrPrint(arguments.view.input, arguments.view.format);
  if (recording == nullptr) return kExitFailure;
  absl::Status reading;
  Output output("-", Lines::kFitted);
  output.Write(StatsOf(arguments.view.input, *recording, &reading));
  return Finish(*recording, reading, output);
}

// Prints the records, and then the figures of --stats, as perf does.
int DumpWithStats(const std::string& input, std::optional<importers::Format> format) {
  return DumpRecordingAsPerf(input, format, [&](perf_data::Recording& recording) {
    absl::Status seen_before;
    return "\n" + StatsOf(input, recording, &seen_before);
  });
}

// Checks that the recording contains context switches. The number of running threads is computed
// from them.
absl::Status CheckSwitches(const perf_data::Recording& recording) {
  for (const perf_data::EventDescription& event : recording.events()) {
    if (event.attr.has(perf_event::kAttrContextSwitch)) return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "the recording does not say which threads ran at a time: record with --latency");
}

void ShowLatency(report::Latency place, profile::Profile& profile, report::ReportOptions* options) {
  options->latency = place;
  options->join_groups = true;
  options->groups.clear();
  for (const auto& [latency, event] : analysis::AddLatency(profile)) {
    std::vector<profile::EventId> events = {latency, event};
    if (place == report::Latency::kSecond) std::swap(events.front(), events.back());
    options->groups.push_back({.name = {}, .events = std::move(events)});
  }
}

// True if several threads ran when any sample was taken. Otherwise each latency equals the share of
// the event.
bool AnyRanInParallel(const profile::Profile& profile) {
  const HugeVector<uint32_t>& column = profile.column(profile::Dimension::kParallelism);
  return std::any_of(column.begin(), column.end(), [](uint32_t threads) {
    return threads > 1 && threads != profile::kOthersRan;
  });
}

// Checks that samples describe their accesses to memory.
absl::Status CheckMemory(const perf_data::Recording& recording) {
  for (const perf_data::EventDescription& event : recording.events()) {
    if ((event.attr.sample_type & perf_event::kSampleDataSrc) != 0) return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "--mem-mode: no sample says what its access to memory met (data_src): record events of "
      "memory with perf mem record, or with record -d");
}

// Returns the sockets by CPU; empty if the recording lacks the topology.
std::vector<uint32_t> SocketsOf(const perf_data::Recording& recording) {
  std::vector<uint32_t> sockets;
  const auto topology = perf_data::ReadCpuTopology(recording.features());
  if (!topology) return sockets;
  for (const auto& cpu : topology->cpus) sockets.push_back(cpu.socket_id);
  return sockets;
}

// Checks that samples have a CPU, which a socket filter needs.
absl::Status CheckCpus(const perf_data::Recording& recording) {
  for (const perf_data::EventDescription& event : recording.events()) {
    if (perf_event::IsDummy(event.attr)) continue;
    if ((event.attr.sample_type & perf_event::kSampleCpu) != 0) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("--socket-filter: the samples of ", event.name,
                     " do not say on which CPU they were taken (perf record --sample-cpu): leave "
                     "out --socket-filter"));
  }
  return absl::OkStatus();
}

// Adds the columns and changes to stacks that the plan needs.
absl::Status EditProfile(const ReportPlan& plan, const perf_data::Recording& recording,
                         profile::Profile& profile) {
  if (plan.options.column_filter.socket || plan.SortsBy(report::SortKey::kSocket)) {
    if (plan.options.column_filter.socket) {
      PROFILER_RETURN_IF_ERROR(CheckCpus(recording));
    }
    const std::vector<uint32_t> sockets = SocketsOf(recording);
    if (sockets.empty() && plan.options.column_filter.socket) {
      return absl::FailedPreconditionError(
          "--socket-filter: the recording does not say which CPU is of which socket: use -C");
    }
    analysis::AddSockets(sockets, profile);
  }
  for (const report::SortKey key : plan.options.sort) {
    if (report::IsOfMemory(key) || report::IsOfCost(key)) {
      analysis::AddAccessColumn(*report::DimensionOf(key), profile);
    }
  }
  NameTraceFunctions(profile);
  if (!plan.trace_fields.empty()) {
    for (const std::string& field : plan.trace_fields) {
      profile.trace_fields.push_back(profile.strings.Intern(TraceFieldOf(field).name));
    }
    analysis::SplitTraces(profile);
  }
  if (plan.ignored_callees) analysis::ForgetCallees(*plan.ignored_callees, profile);
  if (plan.ignored_callers) analysis::ForgetCallers(*plan.ignored_callers, profile);
  if (plan.SortsBy(report::SortKey::kCommNoDigit)) analysis::AddCommsWithoutDigits(profile);
  if (plan.parent) {
    // True if the top of a call graph is the outermost caller.
    const bool from_caller = plan.options.call_graph.order.value_or(
                                 plan.options.children.value_or(true)
                                     ? report::ChainOrder::kCaller
                                     : report::ChainOrder::kCallee) == report::ChainOrder::kCaller;
    analysis::AddParents(
        *plan.parent, from_caller ? analysis::StackEnd::kOutermost : analysis::StackEnd::kInnermost,
        profile);
  }
  return absl::OkStatus();
}

// The events of a recording before it is opened, read when they are first needed. A pipe has none,
// because it cannot be read twice.
class EventsInAdvance {
 public:
  explicit EventsInAdvance(std::string path) : path_(std::move(path)) {}

  const std::vector<perf_data::EventDescription>& Get() {
    if (!events_) events_ = Read();
    return *events_;
  }

 private:
  std::vector<perf_data::EventDescription> Read() const {
    if (!perf_data::CanBeReadAgain(path_) || !perf_data::BeginsAsRecording(path_)) return {};
    const auto recording = perf_data::Recording::Open(path_);
    if (!recording.ok()) return {};
    return (*recording)->events();
  }

  const std::string path_;
  std::optional<std::vector<perf_data::EventDescription>> events_;
};

// True if all events are tracepoints. Then the rows of a report are records by default, as in perf.
bool IsOfTracepointsAlone(EventsInAdvance& in_advance) {
  bool any = false;
  for (const perf_data::EventDescription& event : in_advance.Get()) {
    if (perf_event::IsDummy(event.attr)) continue;
    if (event.attr.type != perf_event::kTypeTracepoint) return false;
    any = true;
  }
  return any;
}

// True if --sort trace is the default and no option chooses other rows.
bool SortsByTrace(const ReportArguments& arguments, EventsInAdvance& in_advance) {
  return arguments.sort.empty() && arguments.fields.empty() && arguments.parent.empty() &&
         !arguments.json && !arguments.memory && !arguments.chains && !arguments.unresolved &&
         IsOfTracepointsAlone(in_advance);
}

// True if the report shows latencies next to the shares by default, as perf does. This requires a
// recording with context switches, and that no option names the columns of shares.
bool MayShowLatency(const ReportArguments& arguments, const report::ReportOptions& options,
                    EventsInAdvance& in_advance) {
  const bool is_other = arguments.json || arguments.memory || arguments.chains ||
                        arguments.unresolved || arguments.branch_stack || arguments.intervals;
  const bool names_columns =
      (!options.fields.fields.empty() && !options.fields.is_added) ||
      std::any_of(options.sort_fields.begin(), options.sort_fields.end(),
                  [](const report::Field& field) {
                    return std::holds_alternative<report::WeightField>(field);
                  });
  if (is_other || names_columns || options.by_access_cost) return false;
  const std::vector<perf_data::EventDescription>& all = in_advance.Get();
  return std::any_of(all.begin(), all.end(), [](const perf_data::EventDescription& event) {
    return event.attr.has(perf_event::kAttrContextSwitch);
  });
}

// Joins the times of threads, and drops the events that --event does not name.
absl::Status ChooseEvent(const ReportArguments& arguments, profile::Profile& profile) {
  const std::string& name = arguments.view.event;
  const bool joins = name.empty() ? !arguments.no_group : name == kWallClockEvent;
  if (joins) analysis::JoinWallClock(analysis::OffCpuLeaf::kNone, profile);
  if (name.empty()) return absl::OkStatus();
  PROFILER_RETURN_IF_ERROR(KeepEvent(name, profile));
  PROFILER_ASSIGN_OR_RETURN(const auto events, analysis::EventsNamed(profile, name));
  for (uint32_t i = 0; i < profile.events.size(); ++i) {
    // An event without samples has no table.
    if (std::find(events.begin(), events.end(), profile::EventId{i}) == events.end()) {
      profile.events[i].samples = 0;
    }
  }
  return absl::OkStatus();
}

int WriteWholeReport(const ReportArguments& arguments, ReportPlan plan,
                     EventsInAdvance& in_advance) {
  report::ReportOptions& options = plan.options;
  const bool may_show_latency =
      !arguments.latency && MayShowLatency(arguments, options, in_advance);
  if (may_show_latency) {
    plan.load.dimensions[static_cast<size_t>(profile::Dimension::kParallelism)] = true;
  }
  std::optional<TracepointTexts> tracepoints;
  plan.load.describe_tracepoint = [&](const perf_data::Recording& recording,
                                      std::span<const std::byte> raw, uint32_t cpu,
                                      std::string* out, std::vector<uint64_t>* functions) {
    if (!tracepoints) {
      events::TraceParts parts{.text = plan.SortsBy(report::SortKey::kTrace),
                               .end = analysis::kTracePartEnd};
      for (const std::string& field : plan.trace_fields) {
        parts.fields.push_back(TraceFieldOf(field));
      }
      tracepoints.emplace(recording, std::move(parts));
    }
    tracepoints->Append(raw, cpu, out, functions);
  };
  ThreadCounters counters;
  if (arguments.thread_counters) {
    plan.load.on_record = [&](const perf_data::Recording& recording,
                              const perf_data::TimedRecord& timed) {
      counters.Take(recording, timed);
    };
  }
  auto loaded = LoadProfileOrPrint(arguments.view.input, plan.load);
  if (!loaded) return kExitFailure;
  if (const auto reason = WhyNothingIsLeft(plan.load, *loaded)) PrintWarning(*reason);
  if (const absl::Status unknown = ChooseEvent(arguments, loaded->profile); !unknown.ok()) {
    PrintError(unknown);
    return kExitUsage;
  }
  if (plan.load.dimensions[static_cast<size_t>(profile::Dimension::kParallelism)]) {
    if (const absl::Status wrong = CheckSwitches(*loaded->recording); !wrong.ok()) {
      PrintError(wrong);
      return kExitFailure;
    }
  }
  if (options.by_access_cost) {
    if (const absl::Status wrong = CheckMemory(*loaded->recording); !wrong.ok()) {
      PrintError(wrong);
      return kExitFailure;
    }
  }
  Output output(arguments.view.output, arguments.json ? Lines::kWhole : Lines::kFitted);
  if (arguments.chains) {
    output.Write(report::FormatChains(loaded->profile));
    return Finish(*loaded, output, arguments.verbose);
  }
  if (arguments.unresolved) {
    output.Write(report::FormatUnresolved(loaded->profile));
    return Finish(*loaded, output, arguments.verbose);
  }
  if (const absl::Status wrong = CheckBranches(arguments, options, loaded->profile); !wrong.ok()) {
    PrintError(wrong);
    return kExitUsage;
  }
  if (arguments.hide_unresolved) analysis::HideUnresolved(loaded->profile);
  if (const absl::Status wrong = EditProfile(plan, *loaded->recording, loaded->profile);
      !wrong.ok()) {
    PrintError(wrong);
    return kExitFailure;
  }
  if (arguments.json) {
    output.Write(report::ReportAsJson(loaded->profile, options,
                                      FactsOf(arguments.view.input, *loaded->recording)));
    return Finish(*loaded, output, arguments.verbose);
  }
  if (arguments.view.event.empty()) options.groups = GroupsOf(*loaded->recording, arguments);
  options.join_groups = !arguments.no_group;
  if (arguments.latency) {
    ShowLatency(report::Latency::kFirst, loaded->profile, &options);
  } else if (may_show_latency && options.groups.empty() && AnyRanInParallel(loaded->profile)) {
    ShowLatency(report::Latency::kSecond, loaded->profile, &options);
  }
  if (arguments.header) {
    output.Write(
        report::FormatRecordingHeader(DescribeRecording(arguments.view.input, *loaded->recording)));
  } else if (!arguments.quiet) {
    output.Write(report::RecordingHeaderHint());
  }
  report::WriteReport(loaded->profile, options, [&](std::string_view text) { output.Write(text); });
  if (arguments.thread_counters) output.Write(counters.Text(*loaded->recording));
  return Finish(*loaded, output, arguments.verbose);
}

int WriteReportPage(const ReportArguments& arguments) {
  if (arguments.json) {
    PrintError("--json: a page is no JSON: leave it out, or name another file after -o");
    return kExitUsage;
  }
  return WritePage(arguments.view, {.output = arguments.view.output,
                                    .event = arguments.view.event,
                                    .view = page::OpenedView::kTable,
                                    .inverted = arguments.inverted,
                                    .source = arguments.source});
}

// Says that an argument was taken for a symbol, as the name of a recording may be misspelt.
void NoteSymbol(const ReportArguments& arguments) {
  const std::vector<std::string>& words = arguments.view.words;
  if (std::find(words.begin(), words.end(), arguments.symbol_part) == words.end()) return;
  PrintNote(absl::StrCat("'", arguments.symbol_part,
                         "' is no recording: only symbols with this in their name are shown"));
}

}  // namespace

void AddReportCommand(usage::Command& app, Commands& commands) {
  usage::Command& command =
      app.AddCommand("report", "Show where the time went, flat and as a call graph");
  auto arguments = std::make_shared<ReportArguments>();
  AddReportOptions(command, *arguments);

  const auto run = [arguments] {
    if (!arguments->view.words.empty() && !arguments->symbol_part.empty()) NoteSymbol(*arguments);
    const auto trace_fields_of = [&](std::string_view word) {
      return TraceFieldsNamed(word, arguments->view.input);
    };
    auto plan = ReadReportPlan(*arguments, trace_fields_of);
    if (!plan.ok()) {
      PrintError(plan.status());
      return kExitUsage;
    }
    if (IsPage(arguments->view.output)) return WriteReportPage(*arguments);
    if (const ExportFormat* format = FormatOfView(arguments->view.output)) {
      return Export({arguments->view, arguments->view.event, arguments->view.output}, *format);
    }
    absl::Status refused = CheckViewOutput(arguments->view.output, arguments->view.input);
    refused.Update(CheckSource(arguments->source, arguments->view.output));
    if (!refused.ok()) {
      PrintError(refused);
      return kExitUsage;
    }
    if (arguments->dump) return DumpWithStats(arguments->view.input, arguments->view.format);
    if (arguments->tasks || arguments->mappings) {
      return WriteTasks(arguments->view.input, arguments->view.format,
                        arguments->mappings ? TaskDetails::kMappings : TaskDetails::kNone);
    }
    if (arguments->stats) return WriteStats(*arguments);
    if (arguments->header_only)
      return WriteHeaderAlone(arguments->view.input, arguments->view.format);
    EventsInAdvance in_advance(arguments->view.input);
    if (SortsByTrace(*arguments, in_advance)) {
      arguments->sort = "trace";
      plan = ReadReportPlan(*arguments, trace_fields_of);
      if (!plan.ok()) {
        PrintError(plan.status());
        return kExitUsage;
      }
    }
    return WriteWholeReport(*arguments, *std::move(plan), in_advance);
  };
  commands[&command] = RunView(command, arguments->view, run, &arguments->symbol_part);
}

}  // namespace profiler::cli
