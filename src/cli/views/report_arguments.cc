#include "src/cli/views/report_arguments.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/cli/option_values.h"
#include "src/cli/perf_options.h"
#include "src/cli/views/page_view.h"
#include "src/cli/views/tracepoint_texts.h"
#include "src/format/perf_event/off_cpu_events.h"
#include "src/profile/profile.h"

namespace profiler::cli {

// Declared in live/option_groups.h, for `top`.
void AddSortOption(usage::Command& command, ReportArguments& arguments);
void AddChildrenOptions(usage::Command& command, ReportArguments& arguments);
void AddPartOptions(usage::Command& command, ReportArguments& arguments);
void AddColumnOptions(usage::Command& command, ReportArguments& arguments);

namespace {

using profile::Dimension;
using report::Field;
using report::SortKey;

// Default pattern of --parent: entries into the kernel.
constexpr std::string_view kUsualParents = "^sys_|^do_page_fault";

std::string SortHelp() {
  const auto keys = [](report::KeyGroup group) { return report::SortKeyNames(group, ",", ","); };
  return absl::StrCat(
      "keys: ", keys(report::KeyGroup::kSamples),
      " (default: comm,dso,symbol; +KEY adds to them); of accesses to memory: ",
      keys(report::KeyGroup::kAccesses),
      "; of tracepoints: FIELD, EVENT.FIELD, trace_fields; of branches: ",
      keys(report::KeyGroup::kBranches),
      " (default: comm,dso_from,symbol_from,symbol_to,cycles). Also what --fields has: rows are in "
      "the order of what is named first");
}

void AddRowOptions(usage::Command& command, ReportArguments& a) {
  AddSortOption(command, a);
  command
      .AddOption("-F,--fields", a.fields,
                 "columns, in this order: keys of --sort, and overhead, overhead_children, "
                 "overhead_sys, overhead_us, overhead_guest_sys, overhead_guest_us, sample and "
                 "period; of --ci overhead_ci, "
                 "overhead_children_ci and rank (+FIELD adds to the usual ones)")
      .ValueName("FIELD,…");
  command
      .AddOption("--time-quantum", a.time_quantum, "how long the slices of the sort key time are")
      .ValueName("TIME")
      .ShowDefault();
  command
      .AddOption("-p,--parent", a.parent,
                 "add the key parent: the first function on a stack that this regular expression "
                 "is found in, the outermost with --children; others are [other]")
      .ValueName("REGEX");
  const usage::Option branches =
      command.AddFlag("-b,--branch-stack", a.branch_stack,
                      "rows are taken branches (default where samples have branch stacks)");
  command
      .AddFlag("--no-branch-stack", a.no_branch_stack,
               "rows are samples, whether or not they have branch stacks")
      .Excludes(branches);
  const usage::Option group =
      command.AddFlag("--group", a.group,
                      "events of a group share a table, with a column of each "
                      "(default); where the recording has no "
                      "groups, all events are one");
  command.AddFlag("--no-group", a.no_group, "each event has a table of its own").Excludes(group);
  command.AddFlag(
      "--latency", a.latency,
      "which code would make the program end sooner: rows go by the time that passes while it runs "
      "or is waited for, beside that of all threads (record --latency)");
  command.AddFlag(
      "--mem-mode", a.memory,
      "rows weigh what their accesses to memory cost (perf mem record), and go by "
      "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat,"
      "local_retire_lat; the keys mem to blocked mean the same");
  command.AddFlag("--full-source-path", a.full_source_paths,
                  "with srcline and srcfile: directories too");
  AddChildrenOptions(command, a);
}

void AddFilterOptions(usage::Command& command, ReportArguments& a) {
  command
      .AddOption("--symbol-filter", a.symbol_part, "only rows of symbols with this in their name")
      .ValueName("TEXT");
  command.AddFlag("-U,--hide-unresolved", a.hide_unresolved,
                  "leave out samples of code without a symbol, and callers without one");
  command.AddOption("--socket-filter", a.socket, "only samples of this processor socket")
      .ValueName("SOCKET");
  command.AddFlag("-x,--exclude-other", a.exclude_other,
                  "only samples whose stack has a function that --parent finds");
  AddPartOptions(command, a);
}

void AddLayoutOptions(usage::Command& command, ReportArguments& a) {
  command
      .AddOption("-g,--call-graph", a.call_graph,
                 "graph|flat|fractal|folded|none[,THRESHOLD][,caller|callee]")
      .ValueName("HOW")
      .ValueMayBeMissing();
  command.AddFlag("-G,--inverted", a.inverted, "call graphs begin with the outermost caller");
  AddColumnOptions(command, a);
  command.AddFlag("--ci", a.intervals,
                  "add columns of how far chance can have moved the shares (95 % intervals), and "
                  "of ranks, which rows share that cannot be told apart");
  command.AddFlag("--showcpuutilization", a.show_cpu_utilization,
                  "add columns of the shares in the kernel (sys) and outside (usr)");
  command.AddFlag("--hierarchy", a.hierarchy,
                  "rows within rows: a level for each key of --sort, without --fields");
  AddJsonOption(command, a.json);
  command
      .AddOption("-t,--field-separator", a.separator,
                 "write this between columns, and a dot for it within them, instead of aligning "
                 "numbers")
      .ValueName("TEXT");
  command
      .AddOption("-w,--column-widths", a.widths,
                 "widths of the columns, from the first on; 0: as wide as it needs to be")
      .ValueName("WIDTH,…");
  AddInlineOption(command, a.view);
  AddFoldOption(command, a.view);
  command.AddFlag("--no-fde", a.no_fde,
                  "show every address without a symbol by itself, as perf does, and not under "
                  "where its function starts (.eh_frame)");
  AddNameRules(command, a.view.names);
}

void AddOtherViews(usage::Command& command, ReportArguments& a) {
  command.AddFlag("--header", a.header, "show the recording's header first");
  command.AddFlag("--header-only", a.header_only, "show the recording's header and nothing else");
  command.AddFlag("-D,--dump-raw-trace", a.dump,
                  "print every record in perf's layout; profiler dump names all fields");
  command.AddFlag("--stats", a.stats, "count the records of each type");
  command.AddFlag("--chains", a.chains,
                  "how many call chains are whole or broken, and what would mend the others");
  command.AddFlag("--unresolved", a.unresolved,
                  "which images and addresses have no name, why, and what would mend it");
  command.AddFlag("--tasks", a.tasks, "the threads, and who started whom");
  command.AddFlag("--mmaps", a.mappings,
                  "the threads, and what code each process has mapped in the end");
}

// Adds options of perf that change nothing here, or that are refused.
void AddPerfOptions(usage::Command& command) {
  AddIgnoredOption(command, "--inline", nullptr, "inlined functions are shown; see --no-inline");
  AddIgnoredOption(command, "-m,--modules", nullptr, "symbols of modules are always read");
  AddIgnoredOption(command, "--samples", "N", "it keeps samples for perf's own window");
  AddIgnoredOption(command, "--percent-type", "TYPE", "it is of profiler annotate");
  AddIgnoredOption(command, "--disable-order", nullptr, "-D has the records as they are stored");
  AddIgnoredOption(command, "--itrace", nullptr,
                   "traces (Intel PT, CoreSight) are not decoded, and their size is shown");
  AddIgnoredOption(command, "--objdump,--prefix", "PATH", "it is of perf's own window");
  AddIgnoredOption(command, "--prefix-strip", "N", "it is of perf's own window");
  command.AddRefused("--stitch-lbr", "",
                     "the pieces of --call-graph lbr are not put together: record with "
                     "--call-graph dwarf, whose chains are whole");
}

// Adds options that change little, because users of perf type them out of habit.
void AddHabits(usage::Command& command, ReportArguments& a) {
  command.AddFlag("-v,--verbose", a.verbose,
                  "show the whole paths of images, and each image whose file is another build now");
  command.AddFlag("-T,--threads", a.thread_counters,
                  "what the events counted in each thread, below the report (perf record -s)");
  command.AddFlag("-q,--quiet", a.quiet, "only rows, without headings and what else begins with #");
  command.AddFlag("--ns", a.nanoseconds, "with the key time: nine digits behind the point");
  command.AddFlag("-I,--show-info", "accepted: --header shows all that is known of the machine");
  command.AddFlag("--skip-empty", "accepted: events without samples have no table");
  command.AddFlag("--raw-trace", a.raw_trace,
                  "accepted, but not with the sort key trace, which has the words of the kernel");
  command.AddFlag("--total-cycles", a.total_cycles,
                  "accepted for recordings without branch stacks, where it changes nothing");
}

std::vector<Field> UsualKeys(const ReportArguments& arguments) {
  if (!arguments.memory) return {SortKey::kComm, SortKey::kDso, SortKey::kSymbol};
  return {SortKey::kLocalWeight,
          SortKey::kMemoryLevel,
          SortKey::kSymbol,
          SortKey::kDso,
          SortKey::kDataSymbol,
          SortKey::kDataDso,
          SortKey::kSnoop,
          SortKey::kTlb,
          SortKey::kLocked,
          SortKey::kBlocked,
          SortKey::kLocalInstructionLatency,
          SortKey::kLocalRetireLatency};
}

void AddOnce(const Field& field, std::vector<Field>& fields) {
  if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
}

absl::StatusOr<report::FieldList> ReadFieldList(std::string_view option, const std::string& text,
                                                const report::TraceFieldsOf& trace_fields_of,
                                                std::vector<std::string>* trace_fields) {
  auto list = report::ParseFields(text, trace_fields_of, trace_fields);
  if (list.ok()) return list;
  return absl::InvalidArgumentError(absl::StrCat(View(option), ": ", list.status().message()));
}

// Reads --sort and --fields. The keys of --sort apply to branches if the recording has branches and
// branches have these keys; otherwise they apply to samples.
absl::Status ReadFields(const ReportArguments& arguments,
                        const report::TraceFieldsOf& trace_fields_of, ReportPlan* plan) {
  report::ReportOptions* const options = &plan->options;
  if (!arguments.fields.empty()) {
    PROFILER_ASSIGN_OR_RETURN(options->fields, ReadFieldList("--fields", arguments.fields,
                                                             trace_fields_of, &plan->trace_fields));
  }
  report::FieldList sort;
  if (!arguments.sort.empty()) {
    PROFILER_ASSIGN_OR_RETURN(
        sort, ReadFieldList("--sort", arguments.sort, trace_fields_of, &plan->trace_fields));
  }
  if (arguments.sort.empty() && arguments.parent.empty() && options->fields.fields.empty() &&
      !arguments.memory) {
    return absl::OkStatus();
  }
  const bool only_fields = !options->fields.fields.empty() && !options->fields.is_added;
  if (sort.is_added || (arguments.sort.empty() && !only_fields)) {
    options->sort_fields = UsualKeys(arguments);
  }
  for (const Field& field : sort.fields) AddOnce(field, options->sort_fields);
  if (!arguments.parent.empty()) AddOnce(SortKey::kParent, options->sort_fields);
  std::vector<Field> all = options->sort_fields;
  for (const Field& field : options->fields.fields) AddOnce(field, all);
  options->sort = report::KeysOf(all);
  options->by_access_cost =
      arguments.memory ||
      std::any_of(options->sort.begin(), options->sort.end(), report::IsOfMemory);
  if (!arguments.sort.empty() || only_fields) options->branch_sort = options->sort;
  return absl::OkStatus();
}

absl::Status ReadWidths(const std::string& text, std::vector<size_t>* widths) {
  constexpr uint32_t kWidest = 10'000;
  for (const std::string& piece : SplitList(text)) {
    uint32_t width = 0;
    if (!absl::SimpleAtoi(piece, &width) || width > kWidest) {
      return absl::InvalidArgumentError(
          absl::StrCat("--column-widths: '", piece, "' is no width: give numbers up to ", kWidest));
    }
    widths->push_back(width);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadSeparator(const std::string& text) {
  if (!text.empty() && text != ".") return text;
  return absl::InvalidArgumentError(
      "--field-separator: give a text other than '.', which stands for it within columns");
}

// Refuses options of columns, because a JSON document always contains all columns.
absl::Status CheckJson(const ReportArguments& arguments) {
  if (!arguments.json) return absl::OkStatus();
  const std::pair<bool, std::string_view> others[] = {{arguments.hierarchy, "--hierarchy"},
                                                      {!arguments.fields.empty(), "--fields"},
                                                      {arguments.separator.has_value(), "-t"},
                                                      {!arguments.widths.empty(), "-w"},
                                                      {arguments.branch_stack, "--branch-stack"},
                                                      {arguments.latency, "--latency"},
                                                      {arguments.thread_counters, "--threads"},
                                                      {arguments.stats, "--stats"},
                                                      {arguments.chains, "--chains"},
                                                      {arguments.unresolved, "--unresolved"},
                                                      {arguments.header_only, "--header-only"},
                                                      {arguments.dump, "-D"},
                                                      {arguments.tasks, "--tasks"},
                                                      {arguments.mappings, "--mmaps"}};
  for (const auto& [is_given, name] : others) {
    if (!is_given) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--json: leave out ", View(name), ", which is of text"));
  }
  return absl::OkStatus();
}

absl::Status ReadOptions(const ReportArguments& arguments,
                         const report::TraceFieldsOf& trace_fields_of, ReportPlan* plan) {
  report::ReportOptions& options = plan->options;
  PROFILER_RETURN_IF_ERROR(ReadFields(arguments, trace_fields_of, plan));
  if (arguments.branch_stack &&
      !std::all_of(options.branch_sort.begin(), options.branch_sort.end(), report::TellsBranches)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--branch-stack: rows of branches go by ", report::BranchKeyNames()));
  }
  PROFILER_RETURN_IF_ERROR(CheckJson(arguments));
  if (arguments.hierarchy && !arguments.fields.empty()) {
    return absl::InvalidArgumentError(
        "--hierarchy: its levels are the keys of --sort: leave out --fields");
  }
  if (arguments.call_graph) {
    PROFILER_ASSIGN_OR_RETURN(options.call_graph, report::ParseCallGraph(*arguments.call_graph));
  }
  if (arguments.separator) {
    PROFILER_ASSIGN_OR_RETURN(options.separator, ReadSeparator(*arguments.separator));
  }
  PROFILER_RETURN_IF_ERROR(ReadWidths(arguments.widths, &options.widths));
  if (options.by_access_cost) options.children = false;  // as in perf
  if (arguments.children) options.children = true;
  if (arguments.no_children) options.children = false;
  if (arguments.inverted) options.call_graph.order = report::ChainOrder::kCaller;
  if (std::isnan(arguments.percent_limit)) {
    return absl::InvalidArgumentError("--percent-limit: give a number, as 0.5");
  }
  options.percent_limit = arguments.percent_limit;
  options.show_samples = arguments.show_samples;
  options.show_period = arguments.show_period;
  options.show_intervals = arguments.intervals;
  options.show_cpu_utilization = arguments.show_cpu_utilization;
  options.hierarchy = arguments.hierarchy;
  options.quiet = arguments.quiet;
  options.nanoseconds = arguments.nanoseconds;
  options.full_dso_paths = arguments.verbose;
  options.relative_percentages = arguments.percentage == "relative";
  options.inlines = !arguments.view.no_inline;
  options.full_source_paths = arguments.full_source_paths;
  options.max_stack = arguments.max_stack;
  options.symbol_part = arguments.symbol_part;
  options.column_filter.socket = arguments.socket;
  options.column_filter.only_with_parent = arguments.exclude_other;
  options.time_slices = arguments.view.samples.time;
  return absl::OkStatus();
}

absl::StatusOr<analysis::NamePattern> ReadPattern(std::string_view option,
                                                  std::string_view pattern) {
  auto read = analysis::NamePattern::Parse(pattern);
  if (read.ok()) return read;
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(option), ": ", read.status().message()));
}

absl::Status ReadPatterns(const ReportArguments& arguments, ReportPlan* plan) {
  const auto read = [](std::string_view option, const std::string& text,
                       std::optional<analysis::NamePattern>* pattern) -> absl::Status {
    if (text.empty()) return absl::OkStatus();
    PROFILER_ASSIGN_OR_RETURN(*pattern, ReadPattern(option, text));
    return absl::OkStatus();
  };
  analysis::Plan& steps = plan->load.plan;
  PROFILER_RETURN_IF_ERROR(
      read("--ignore-callees", arguments.ignored_callees, &steps.ignored_callees));
  PROFILER_RETURN_IF_ERROR(
      read("--ignore-callers", arguments.ignored_callers, &steps.ignored_callers));
  if (!plan->SortsBy(SortKey::kParent) && !arguments.exclude_other) return absl::OkStatus();
  return read("--parent", arguments.parent.empty() ? std::string(kUsualParents) : arguments.parent,
              &steps.sources.parent);
}

void AskForColumns(const ReportArguments& arguments, ReportPlan* plan) {
  const auto add = [&](Dimension dimension) {
    plan->load.plan.Derive(dimension);
    const auto source = analysis::SourceOf(dimension);
    if (source) plan->load.dimensions[static_cast<size_t>(*source)] = true;
  };
  for (const SortKey key : plan->options.sort) {
    if (const auto dimension = report::DimensionOf(key)) add(*dimension);
    plan->load.keep_thread |= report::EntryOf(key).thread.id != nullptr;
  }
  if (arguments.socket) add(Dimension::kSocket);
  if (arguments.exclude_other) add(Dimension::kParent);
  if (arguments.latency) add(Dimension::kParallelism);
  plan->load.weigh_accesses = plan->options.by_access_cost;
  plan->load.keep_call_branches = arguments.branch_stack;
  plan->load.keep_branches = !arguments.no_branch_stack && !arguments.json && !arguments.chains &&
                             !arguments.unresolved &&
                             std::all_of(plan->options.branch_sort.begin(),
                                         plan->options.branch_sort.end(), report::TellsBranches);
}

// True if the top of a call graph is the outermost caller.
bool BeginsWithCaller(const report::ReportOptions& options) {
  const auto usual =
      options.children.value_or(true) ? report::ChainOrder::kCaller : report::ChainOrder::kCallee;
  return options.call_graph.order.value_or(usual) == report::ChainOrder::kCaller;
}

// Plans how the profile is prepared. The report itself filters rows, because its percentages may be
// of all samples.
void PlanSteps(const ReportArguments& arguments, ReportPlan* plan) {
  analysis::Plan& steps = plan->load.plan;
  steps.keeps_filtered = true;
  const std::string& event = arguments.view.event;
  const bool joins = event.empty() ? !arguments.no_group : event == kWallClockEvent;
  if (joins) steps.wall_clock = analysis::OffCpuLeaf::kNone;
  steps.only_event = event;
  steps.forgets_other_events = true;
  if (arguments.chains || arguments.unresolved) {
    // These tables show the stacks as they were recorded.
    steps.ignored_callees.reset();
    steps.ignored_callers.reset();
    return;
  }
  steps.hide_unresolved = arguments.hide_unresolved;
  steps.name_traces = NameTraceFunctions;
  for (const std::string& field : plan->trace_fields) {
    steps.trace_fields.push_back(TraceFieldOf(field).name);
  }
  steps.sources.parent_end = BeginsWithCaller(plan->options) ? analysis::StackEnd::kOutermost
                                                             : analysis::StackEnd::kInnermost;
  if (arguments.latency) steps.latencies = analysis::LatencyEvents::kAlways;
}

}  // namespace

void AddSortOption(usage::Command& command, ReportArguments& a) {
  command.AddOption("-s,--sort", a.sort, SortHelp()).ValueName("KEY,…");
}

void AddChildrenOptions(usage::Command& command, ReportArguments& a) {
  command.AddFlag("--children", a.children,
                  "accumulate the weight of callees (default with call chains)");
  command.AddFlag("--no-children", a.no_children, "only the weight of functions themselves");
}

void AddPartOptions(usage::Command& command, ReportArguments& a) {
  command
      .AddOption("--ignore-callees", a.ignored_callees,
                 "count what a function called as its own, of functions that this regular "
                 "expression is found in")
      .ValueName("REGEX");
  command
      .AddOption("--ignore-callers", a.ignored_callers,
                 "let stacks begin with a function that this regular expression is found in")
      .ValueName("REGEX");
  command.AddOption("--percent-limit", a.percent_limit, "leave out rows below this percentage")
      .ValueName("PERCENT");
  command.AddOption("--percentage", a.percentage, "of what passed the filters (relative) or of all")
      .OneOf({"absolute", "relative"})
      .ShowDefault();
}

void AddColumnOptions(usage::Command& command, ReportArguments& a) {
  command.AddOption("--max-stack", a.max_stack, "frames looked at in a call chain").ShowDefault();
  command.AddFlag("-n,--show-nr-samples", a.show_samples, "add a column of sample counts");
  command.AddFlag("--show-total-period", a.show_period, "add a column of summed periods");
}

bool ReportPlan::SortsBy(SortKey key) const {
  return std::find(options.sort.begin(), options.sort.end(), key) != options.sort.end();
}

void AddReportOptions(usage::Command& command, ReportArguments& arguments) {
  AddViewOptions(
      command, arguments.view,
      {.events = ShownEvents::kAll,
       .output = "file to write; - for standard output; x.html for a page with all views, which "
                 "takes the options that choose samples and names alone",
       .argument = "recording, or a profile of another program (default: -i); a word that is none: "
                   "only rows of symbols with it in their name"});
  AddRowOptions(command, arguments);
  AddFilterOptions(command, arguments);
  AddLayoutOptions(command, arguments);
  AddOtherViews(command, arguments);
  AddHabits(command, arguments);
  AddPerfOptions(command);
  AddSourceOption(command, arguments.source);
  command.AddFlag("--stdio", "plain text, which is the only form; for habit's sake");
  command.AddFlag("-f,--force", "accepted: a recording of another user is read when it can be");
}

absl::StatusOr<ReportPlan> ReadReportPlan(const ReportArguments& arguments,
                                          const report::TraceFieldsOf& trace_fields_of) {
  ReportPlan plan;
  PROFILER_RETURN_IF_ERROR(ReadOptions(arguments, trace_fields_of, &plan));
  PROFILER_ASSIGN_OR_RETURN(plan.load, LoadOptionsOf(arguments.view));
  PROFILER_RETURN_IF_ERROR(ReadPatterns(arguments, &plan));
  if (arguments.raw_trace && plan.SortsBy(SortKey::kTrace)) {
    return absl::InvalidArgumentError(
        "--raw-trace: the key trace has what the kernel would print: leave it out, or see "
        "profiler dump");
  }
  PROFILER_ASSIGN_OR_RETURN(plan.load.time_quantum, ParseTimeQuantum(arguments.time_quantum));
  plan.options.filter = plan.load.plan.filter;
  naming::NamingOptions& naming = plan.load.naming;
  naming.function_starts = naming.bounded_symbols = !arguments.no_fde;
  // Debug information provides lines together with inlined calls.
  naming.lines = plan.SortsBy(SortKey::kSrcline) || plan.SortsBy(SortKey::kSrcfile);
  naming.inlines = plan.options.inlines || naming.lines;
  AskForColumns(arguments, &plan);
  PlanSteps(arguments, &plan);
  plan.load.keep_order = arguments.json || plan.options.ShowsFigures();
  return plan;
}

}  // namespace profiler::cli
