// profiler report

#include <algorithm>
#include <functional>
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
#include "src/cli/command.h"
#include "src/cli/files/describe_recording.h"
#include "src/cli/files/dump_command.h"
#include "src/cli/files/export_formats.h"
#include "src/cli/fleet/fleet_recording.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/page_view.h"
#include "src/cli/views/report_arguments.h"
#include "src/cli/views/report_browser.h"
#include "src/cli/views/symbols_remedy.h"
#include "src/cli/views/tracepoint_texts.h"
#include "src/cli/views/view.h"
#include "src/format/perf_data/format/feature_values.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/describe.h"
#include "src/format/perf_event/event_name.h"
#include "src/profile/samples.h"
#include "src/views/report/chains.h"
#include "src/views/report/event_groups.h"
#include "src/views/report/header.h"
#include "src/views/report/names.h"
#include "src/views/report/report.h"
#include "src/views/report/report_json.h"
#include "src/views/report/task_tree.h"
#include "src/views/report/thread_counters.h"

namespace profiler::cli {
namespace {

// Checks that the options fit a recording with or without branch stacks.
absl::Status CheckBranches(const ReportArguments& arguments, const report::ReportOptions& options,
                           const profile::Profile& profile) {
  const bool has = std::any_of(profile.events.begin(), profile.events.end(),
                               [](const profile::Event& event) { return event.branch_stacks; });
  if (has && arguments.total_cycles) {
    return absl::FailedPreconditionError(
        "--total-cycles is not supported: use --sort symbol_from,symbol_to,cycles");
  }
  if (has) return absl::OkStatus();
  if (std::any_of(options.sort.begin(), options.sort.end(), report::IsOfBranch)) {
    return absl::InvalidArgumentError(
        "--sort " + arguments.sort +
        ": keys of branches need samples with branch stacks (record -b); leave out "
        "--no-branch-stack and the keys cpu, srcline, srcfile and symoff");
  }
  if (!arguments.branch_stack) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "--branch-stack: no sample has a branch stack; record with -b");
}

// Returns the recording's event groups. If it has none and --group or --no-group is given, all
// events are one group, as in perf.
std::vector<report::EventGroup> GroupsOf(const perf_data::Recording& recording,
                                         const ReportArguments& arguments) {
  std::vector<report::EventGroup> groups = report::EventGroupsOf(recording);
  if (groups.empty() && (arguments.group || arguments.no_group)) {
    report::EventGroup& all = groups.emplace_back();
    for (uint32_t event = 0; event < recording.events().size(); ++event) {
      all.events.push_back(profile::EventId{event});
    }
  }
  return groups;
}

// The samples of each event. If samples contain the counters of a group, each of them counts once
// for every member whose counter has changed, as in perf.
class EventCounts {
 public:
  explicit EventCounts(const perf_data::Recording& recording) : recording_(recording) {
    AddNewEvents();
  }
  EventCounts(const EventCounts&) = delete;

  // Returns the order in which Take needs the records. Counters of groups only grow in time order.
  // The events of a stream are not known yet, so it may have groups.
  perf_data::Recording::Order order() const {
    const bool may_have_groups = reads_groups_ || recording_.events().empty();
    return may_have_groups ? perf_data::Recording::Order::kTimeAndRounds
                           : perf_data::Recording::Order::kStored;
  }

  void Take(const perf_data::TimedRecord& timed) {
    AddNewEvents();
    const uint32_t type = timed.record.type();
    if (type >= perf_event::kRecordUserFirst || timed.event >= counts_.size()) return;
    const perf_event::RecordLayout& layout = recording_.events()[timed.event].layout;
    perf_event::LostSamples lost;
    perf_event::CallchainDeferred deferred;
    if (type == perf_event::kRecordSample || type == perf_event::kRecordLostSamples) {
      shown_ = std::max<size_t>(shown_, timed.event + 1);
    }
    if (type == perf_event::kRecordSample && reads_groups_) {
      samples_.Take(timed.record, timed.event, timed.time, count_);
    } else if (type == perf_event::kRecordSample) {
      ++counts_[timed.event].samples;
    } else if (type == perf_event::kRecordLostSamples && Decode(timed.record, layout, &lost)) {
      counts_[timed.event].lost += lost.lost;
    } else if (type == perf_event::kRecordCallchainDeferred && reads_groups_ &&
               Decode(timed.record, layout, &deferred)) {
      samples_.Complete(deferred, count_);
    }
  }

  // Returns the counts, in the order of the events. Leaves out events behind the last one that was
  // sampled, unless samples contain the counters of groups. Call it once, last.
  std::vector<report::RecordCount> Finish() {
    samples_.GiveUpWaiting(count_);
    std::vector<report::RecordCount> events;
    for (size_t i = 0; i < (reads_groups_ ? counts_.size() : shown_); ++i) {
      events.push_back({recording_.events()[i].name, counts_[i].samples, counts_[i].lost});
    }
    return events;
  }

 private:
  struct Count {
    uint64_t samples = 0, lost = 0;
  };

  void AddNewEvents() {
    const std::vector<perf_data::EventDescription>& events = recording_.events();
    while (counts_.size() < events.size()) {
      const perf_data::EventDescription& event = events[counts_.size()];
      counts_.emplace_back();
      samples_.AddEvent(event.name, event.attr, event.ids);
      reads_groups_ |= (event.attr.sample_type & perf_event::kSampleRead) != 0 &&
                       (event.attr.read_format & perf_event::kFormatGroup) != 0;
    }
  }

  const perf_data::Recording& recording_;
  profile::Samples samples_;  // used if samples contain the counters of groups
  bool reads_groups_ = false;
  std::vector<Count> counts_;  // indexed by event
  size_t shown_ = 0;           // number of events up to the last one with a sample
  const std::function<void(const profile::TakenSample&)> count_ =
      [this](const profile::TakenSample& taken) {
        for (const profile::SampleShare& share : taken.shares) {
          ++counts_[static_cast<size_t>(share.event)].samples;
        }
      };
};

// Returns the text of --stats: counts of record types in order of their numbers, then the samples
// of each event. If an error ends the reading early, sets `*reading` to it.
std::string StatsOf(perf_data::Recording& recording, absl::Status* reading) {
  std::map<uint32_t, uint64_t> by_type;
  EventCounts by_event(recording);
  *reading = recording.ForEach(by_event.order(), [&](const perf_data::TimedRecord& record) {
    ++by_type[record.record.type()];
    by_event.Take(record);
  });
  std::vector<report::RecordCount> records;
  for (const auto& [type, count] : by_type) {
    std::string name(perf_event::RecordTypeName(type));
    records.push_back({name.empty() ? absl::StrCat("type ", type) : name, count});
  }
  return report::FormatStats(records, by_event.Finish());
}

int WriteStats(const ReportArguments& arguments) {
  const auto recording = OpenRecordingOrPrint(arguments.view.input, arguments.view.format);
  if (recording == nullptr) return kExitFailure;
  absl::Status reading;
  Output output("-", Lines::kFitted);
  output.Write(StatsOf(*recording, &reading));
  return Finish(*recording, reading, output);
}

int WriteTasks(const ReportArguments& arguments) {
  const auto recording = OpenRecordingOrPrint(arguments.view.input, arguments.view.format);
  if (recording == nullptr) return kExitFailure;
  report::TaskTree tree;
  const absl::Status reading = recording->ForEach(
      perf_data::Recording::Order::kTime,
      [&](const perf_data::TimedRecord& timed) { tree.Take(*recording, timed); });
  Output output("-");
  output.Write(
      tree.Text(arguments.mappings ? report::TaskDetails::kMappings : report::TaskDetails::kNone));
  return Finish(*recording, reading, output);
}

// Prints the records, and then the figures of --stats, as perf does.
int DumpWithStats(const std::string& input, std::optional<importers::Format> format) {
  return DumpRecordingAsPerf(input, format, [](perf_data::Recording& recording) {
    absl::Status seen_before;
    return "\n" + StatsOf(recording, &seen_before);
  });
}

// Checks that the recording contains context switches. The number of running threads is computed
// from them.
absl::Status CheckSwitches(const perf_data::Recording& recording) {
  for (const perf_data::EventDescription& event : recording.events()) {
    if (event.attr.has(perf_event::kAttrContextSwitch)) return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "the recording has no context switches, which --latency needs; record with --latency");
}

// Adds a group for each latency and its event.
void ShowLatency(report::Latency place, const LoadedView& loaded, report::ReportOptions* options) {
  options->latency = place;
  options->join_groups = true;
  options->groups.clear();
  for (const auto& [latency, event] : loaded.latencies) {
    std::vector<profile::EventId> events = {latency, event};
    if (place == report::Latency::kSecond) std::swap(events.front(), events.back());
    options->groups.push_back({.name = {}, .events = std::move(events)});
  }
}

// Checks that samples describe their accesses to memory.
absl::Status CheckMemory(const perf_data::Recording& recording) {
  for (const perf_data::EventDescription& event : recording.events()) {
    if ((event.attr.sample_type & perf_event::kSampleDataSrc) != 0) return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "--mem-mode: no sample has the source of its data (data_src); record memory events with perf "
      "mem record, or with record -d");
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
                     " have no CPU; leave out --socket-filter, or record with --sample-cpu"));
  }
  return absl::OkStatus();
}

// Checks that the recording says on which socket a sample was taken, if there is a socket filter.
absl::Status CheckSockets(const report::ReportOptions& options,
                          const perf_data::Recording& recording) {
  if (!options.column_filter.socket) return absl::OkStatus();
  PROFILER_RETURN_IF_ERROR(CheckCpus(recording));
  if (!SocketsOf(recording).empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "--socket-filter: the recording does not list the CPUs of each socket; use -C");
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
    const auto recording = OpenInAdvance(path_);
    if (recording == nullptr) return {};
    return recording->events();
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
  report::ThreadCounters counters;
  if (arguments.thread_counters) {
    plan.load.on_record = [&](const perf_data::Recording& recording,
                              const perf_data::TimedRecord& timed) {
      counters.Take(recording, timed);
    };
  }
  plan.load.complete_plan = [&](const perf_data::Recording& recording, analysis::Plan& steps) {
    steps.sources.sockets = SocketsOf(recording);
    const bool has_groups = arguments.view.event.empty() && !GroupsOf(recording, arguments).empty();
    if (may_show_latency && !has_groups) {
      steps.latencies = analysis::LatencyEvents::kIfParallel;
    }
  };
  const bool opens_browser = OpensBrowser(arguments);
  plan.load.keep_names |= opens_browser;
  plan.load.keep_callers |= opens_browser;
  plan.load.is_browsed = opens_browser;
  const auto loaded = LoadProfileOrPrint(arguments.view.input, plan.load);
  if (!loaded) return kExitFailure;
  if (loaded->nothing_left) PrintWarning(*loaded->nothing_left);
  if (!arguments.view.event.empty()) {
    const auto named = analysis::EventsNamed(loaded->profile, arguments.view.event);
    if (!named.ok()) {
      PrintError(named.status());
      return kExitUsage;
    }
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
    output.Write(report::FormatUnresolved(loaded->profile, SymbolsRemedyHere()));
    return Finish(*loaded, output, arguments.verbose);
  }
  if (const absl::Status wrong = CheckBranches(arguments, options, loaded->profile); !wrong.ok()) {
    PrintError(wrong);
    return kExitUsage;
  }
  if (const absl::Status wrong = CheckSockets(options, *loaded->recording); !wrong.ok()) {
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
    ShowLatency(report::Latency::kFirst, *loaded, &options);
  } else if (!loaded->latencies.empty()) {
    ShowLatency(report::Latency::kSecond, *loaded, &options);
  }
  if (opens_browser && CanBrowse(loaded->profile, options)) {
    if (const absl::Status wrong = BrowseReport(arguments, plan.load, *loaded, options);
        !wrong.ok()) {
      PrintError(wrong);
      return kExitFailure;
    }
    return Finish(*loaded, output, arguments.verbose);
  }
  if (arguments.tui && opens_browser) {
    PrintWarning(
        "--tui: the browser shows neither branch stacks nor a recording without samples, so the "
        "report is plain text");
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
    PrintError("--json cannot be used with a page; leave it out, or name another file with -o");
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
                         "' is not a recording; showing only symbols that contain it"));
}

}  // namespace

void AddReportCommand(usage::Command& app, Commands& commands) {
  usage::Command& command =
      app.AddCommand("report", "Show where the time went, flat and as a call graph");
  auto arguments = std::make_shared<ReportArguments>();
  AddReportOptions(command, *arguments);

  const auto run = [arguments] {
    if (!arguments->view.words.empty() && !arguments->symbol_part.empty()) NoteSymbol(*arguments);
    TraceFieldNames trace_fields(arguments->view.input);
    const auto trace_fields_of = [&](std::string_view word) { return trace_fields.Named(word); };
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
    if (arguments->tasks || arguments->mappings) return WriteTasks(*arguments);
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
