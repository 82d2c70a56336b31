// profiler report

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/cli/command.h"
#include "src/cli/describe_recording.h"
#include "src/cli/dump_command.h"
#include "src/cli/output.h"
#include "src/cli/report_options.h"
#include "src/cli/view.h"
#include "src/perf_data/format/feature_values.h"
#include "src/perf_event/describe.h"
#include "src/query/latency.h"
#include "src/query/wall_clock.h"
#include "src/report/chains.h"
#include "src/report/header.h"
#include "src/report/names.h"
#include "src/report/report.h"

namespace profiler::cli {
namespace {

struct ReportArguments {
  ViewArguments view;
  std::string sort;
  bool children = false;
  bool no_children = false;
  std::string call_graph;
  bool inverted = false;
  double percent_limit = 0;
  bool show_samples = false;
  std::string percentage = "absolute";
  uint32_t max_stack = 127;
  bool stdio = false;
  bool header = false;
  bool header_only = false;
  bool stats = false;
  bool dump = false;
  bool chains = false;
  bool unresolved = false;
  bool no_fde = false;
  bool full_source_paths = false;
  bool branch_stack = false;
  bool no_branch_stack = false;
  bool latency = false;
  bool group = false;
  bool no_group = false;
};

// The keys of --sort are for branches, where the recording has them and the keys can tell branches
// apart, and else for samples.
absl::Status ReadSortKeys(const std::string& text, report::ReportOptions* options) {
  if (text.empty()) return absl::OkStatus();
  PROFILER_ASSIGN_OR_RETURN(options->sort, report::ParseSortKeys(text));
  options->branch_sort = options->sort;
  return absl::OkStatus();
}

// What is wrong with the options, of a recording that has branches or has none.
absl::Status CheckBranches(const ReportArguments& arguments, const report::ReportOptions& options,
                           const profile::Profile& profile) {
  const bool has = std::any_of(profile.events.begin(), profile.events.end(),
                               [](const profile::Event& event) { return event.branch_stacks; });
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

absl::StatusOr<report::ReportOptions> ReadOptions(const ReportArguments& arguments,
                                                  bool call_graph_given) {
  report::ReportOptions options;
  PROFILER_RETURN_IF_ERROR(ReadSortKeys(arguments.sort, &options));
  if (arguments.branch_stack &&
      !std::all_of(options.branch_sort.begin(), options.branch_sort.end(), report::TellsBranches)) {
    return absl::InvalidArgumentError(
        "--branch-stack: rows of branches go by pid, tid, tgid, comm, dso, symbol, symbol_from, "
        "symbol_to, dso_from, dso_to, mispredict and cycles");
  }
  if (call_graph_given) {
    PROFILER_ASSIGN_OR_RETURN(options.call_graph, report::ParseCallGraph(arguments.call_graph));
  }
  if (arguments.children) options.children = true;
  if (arguments.no_children) options.children = false;
  if (arguments.inverted) options.call_graph.order = report::ChainOrder::kCaller;
  options.percent_limit = arguments.percent_limit;
  options.show_samples = arguments.show_samples;
  options.relative_percentages = arguments.percentage == "relative";
  options.inlines = !arguments.view.no_inline;
  options.full_source_paths = arguments.full_source_paths;
  options.max_stack = arguments.max_stack;
  return options;
}

// The groups that the recording tells of. Where it has none and --group or --no-group is given, all
// events are one, as perf has it.
std::vector<report::EventGroup> GroupsOf(const perf_data::Recording& recording,
                                         const ReportArguments& arguments) {
  std::vector<report::EventGroup> groups;
  const size_t events = recording.events().size();
  const auto add = [&](std::string name, uint64_t begin, uint64_t end) {
    report::EventGroup& group = groups.emplace_back();
    group.name = std::move(name);
    for (; begin < std::min<uint64_t>(end, events); ++begin) {
      group.events.push_back(static_cast<profile::EventId>(begin));
    }
  };
  const auto described = perf_data::ReadGroups(recording.features());
  for (const perf_data::EventGroup& group :
       described.value_or(std::vector<perf_data::EventGroup>())) {
    add(group.name.empty() ? "anon group" : group.name, group.leader,
        uint64_t{group.leader} + group.members);
  }
  if (groups.empty() && (arguments.group || arguments.no_group)) add("", 0, events);
  return groups;
}

// Record types in the order of their numbers, then the samples of each event.
int WriteStats(const ReportArguments& arguments) {
  const auto recording = OpenRecordingOrPrint(arguments.view.input);
  if (recording == nullptr) return kExitFailure;
  struct EventCount {
    uint64_t samples = 0, lost = 0;
  };
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
    } else if (record.event < recording->events().size() &&
               Decode(record.record, recording->events()[record.event].layout, &lost)) {
      by_event[record.event].lost += lost.lost;
    }
  };
  const absl::Status reading = recording->ForEach(perf_data::Recording::Order::kStored, count);

  std::vector<report::RecordCount> records;
  for (const auto& [type, count] : by_type) {
    std::string name(perf_event::RecordTypeName(type));
    records.push_back({name.empty() ? absl::StrCat("type ", type) : name, count});
  }
  std::vector<report::RecordCount> events;
  for (size_t i = 0; i < by_event.size() && i < recording->events().size(); ++i) {
    events.push_back({recording->events()[i].name, by_event[i].samples, by_event[i].lost});
  }
  Output output("-", Lines::kFitted);
  output.Write(report::FormatStats(records, events));
  return Finish(*recording, reading, output);
}

// Whether a recording tells which threads run at a time.
absl::Status CheckSwitches(const perf_data::Recording& recording) {
  for (const perf_data::EventDescription& event : recording.events()) {
    if (event.attr.has(perf_event::kAttrContextSwitch)) return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "the recording does not say which threads ran at a time: record with --latency");
}

void ShowLatency(profile::Profile& profile, report::ReportOptions* options) {
  options->latency = options->join_groups = true;
  options->groups.clear();
  for (const auto& [latency, event] : query::AddLatency(profile)) {
    options->groups.push_back({.name = {}, .events = {latency, event}});
  }
}

int WriteWholeReport(const ReportArguments& arguments, report::ReportOptions options,
                     naming::LoadOptions load) {
  load.naming.function_starts = load.naming.bounded_symbols = !arguments.no_fde;
  const auto sorts_by = [&](report::SortKey key) {
    return std::find(options.sort.begin(), options.sort.end(), key) != options.sort.end();
  };
  // Lines are told by debug information, as inlined calls are.
  load.naming.lines = sorts_by(report::SortKey::kSrcline) || sorts_by(report::SortKey::kSrcfile);
  load.naming.inlines = options.inlines || load.naming.lines;
  load.dimensions[static_cast<size_t>(profile::Dimension::kCpu)] = sorts_by(report::SortKey::kCpu);
  load.dimensions[static_cast<size_t>(profile::Dimension::kParallelism)] =
      arguments.latency || sorts_by(report::SortKey::kParallelism);
  load.keep_thread |= sorts_by(report::SortKey::kPid) || sorts_by(report::SortKey::kTid) ||
                      sorts_by(report::SortKey::kTgid);
  load.keep_branches =
      !arguments.no_branch_stack && !arguments.chains && !arguments.unresolved &&
      std::all_of(options.branch_sort.begin(), options.branch_sort.end(), report::TellsBranches);
  auto loaded = LoadProfileOrPrint(arguments.view.input, load);
  if (!loaded) return kExitFailure;
  if (!arguments.no_group) query::JoinWallClock(query::OffCpuLeaf::kNone, loaded->profile);
  if (load.dimensions[static_cast<size_t>(profile::Dimension::kParallelism)]) {
    if (const absl::Status wrong = CheckSwitches(*loaded->recording); !wrong.ok()) {
      PrintError(wrong);
      return kExitFailure;
    }
  }
  Output output("-", Lines::kFitted);
  if (arguments.chains) {
    output.Write(report::FormatChains(loaded->profile.chains));
    return Finish(*loaded, output);
  }
  if (arguments.unresolved) {
    output.Write(report::FormatUnresolved(loaded->profile));
    return Finish(*loaded, output);
  }
  if (const absl::Status wrong = CheckBranches(arguments, options, loaded->profile); !wrong.ok()) {
    PrintError(wrong);
    return kExitUsage;
  }
  options.groups = GroupsOf(*loaded->recording, arguments);
  options.join_groups = !arguments.no_group;
  if (arguments.latency) ShowLatency(loaded->profile, &options);
  if (arguments.header) {
    output.Write(
        report::FormatRecordingHeader(DescribeRecording(arguments.view.input, *loaded->recording)));
  } else {
    output.Write(report::RecordingHeaderHint());
  }
  report::WriteReport(loaded->profile, options, [&](std::string_view text) { output.Write(text); });
  return Finish(*loaded, output);
}

}  // namespace

void AddReportCommand(CLI::App& app, Commands& commands) {
  CLI::App* command =
      app.add_subcommand("report", "Show where the time went, flat and as a call graph");
  auto arguments = std::make_shared<ReportArguments>();
  ReportArguments& a = *arguments;
  AddViewOptions(*command, a.view);
  command
      ->add_option("-s,--sort", a.sort,
                   "keys: pid,tid,tgid,comm,dso,symbol,srcline,srcfile,symoff,cpu,parallelism "
                   "(default: comm,dso,symbol); of branches: "
                   "symbol_from,symbol_to,dso_from,dso_to,mispredict,cycles (default: "
                   "comm,dso_from,symbol_from,symbol_to,cycles)")
      ->type_name("KEY,…");
  CLI::Option* branches =
      command->add_flag("-b,--branch-stack", a.branch_stack,
                        "rows are taken branches (default where samples have branch stacks)");
  command
      ->add_flag("--no-branch-stack", a.no_branch_stack,
                 "rows are samples, whether or not they have branch stacks")
      ->excludes(branches);
  CLI::Option* group = command->add_flag("--group", a.group,
                                         "events of a group share a table, with a column of each "
                                         "(default); where the recording has no "
                                         "groups, all events are one");
  command->add_flag("--no-group", a.no_group, "each event has a table of its own")->excludes(group);
  command->add_flag(
      "--latency", a.latency,
      "which code would make the program end sooner: rows go by the time that passes while it runs "
      "or is waited for, beside that of all threads (record --latency)");
  command->add_flag("--full-source-path", a.full_source_paths,
                    "with srcline and srcfile: directories too");
  command->add_flag("--children", a.children,
                    "accumulate the weight of callees (default with call chains)");
  command->add_flag("--no-children", a.no_children, "only the weight of functions themselves");
  CLI::Option* call_graph =
      command
          ->add_option("-g,--call-graph", a.call_graph,
                       "graph|flat|fractal|folded|none[,THRESHOLD][,caller|callee]")
          ->type_name("HOW")
          ->expected(0, 1);
  command->add_flag("-G,--inverted", a.inverted, "call graphs begin with the outermost caller");
  command->add_option("--percent-limit", a.percent_limit, "leave out rows below this percentage")
      ->type_name("PERCENT");
  command->add_flag("-n,--show-nr-samples", a.show_samples, "add a column of sample counts");
  command
      ->add_option("--percentage", a.percentage, "of what passed the filters (relative) or of all")
      ->check(CLI::IsMember({"absolute", "relative"}))
      ->capture_default_str();
  command->add_option("--max-stack", a.max_stack, "frames looked at in a call chain")
      ->capture_default_str();
  AddInlineOption(*command, a.view);
  command->add_flag("--no-fde", a.no_fde,
                    "show every address without a symbol by itself, as perf does, and not under "
                    "where its function starts (.eh_frame)");
  AddNameRules(*command, a.view.names);
  command->add_flag("--header", a.header, "show the recording's header first");
  command->add_flag("--header-only", a.header_only, "show the recording's header and nothing else");
  command->add_flag("-D,--dump-raw-trace", a.dump, "print every record: profiler dump");
  command->add_flag("--stats", a.stats, "count the records of each type");
  command->add_flag("--chains", a.chains,
                    "how many call chains are whole or broken, and what would mend the others");
  command->add_flag("--unresolved", a.unresolved,
                    "which images and addresses have no name, why, and what would mend it");
  command->add_flag("--stdio", a.stdio, "plain text, which is the only form; for habit's sake");
  command->add_flag("-f,--force")
      ->description("accepted: a recording of another user is read when it can be");

  commands[command] = [arguments, call_graph] {
    auto options = ReadOptions(*arguments, call_graph->count() > 0);
    if (!options.ok()) {
      PrintError(options.status());
      return kExitUsage;
    }
    auto load = LoadOptionsOf(arguments->view);
    if (!load.ok()) {
      PrintError(load.status());
      return kExitUsage;
    }
    options->filter = load->filter;
    if (arguments->dump) return DumpRecording(arguments->view.input);
    if (arguments->stats) return WriteStats(*arguments);
    if (arguments->header_only) return WriteHeaderAlone(arguments->view.input);
    return WriteWholeReport(*arguments, *options, *std::move(load));
  };
}

}  // namespace profiler::cli
