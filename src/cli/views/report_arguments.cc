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

namespace {

using profile::Dimension;
using report::Field;
using report::SortKey;

// Default pattern of --parent: entries into the kernel.
constexpr std::string_view kUsualParents = "^sys_|^do_page_fault";

std::string SortHelp() {
  const auto keys = [](report::KeyGroup group) { return report::SortKeyNames(group, ",", ","); };
  return absl::StrCat("keys: ", keys(report::KeyGroup::kSamples),
                      " (default: comm,dso,symbol; +KEY adds a key); of memory accesses: ",
                      keys(report::KeyGroup::kAccesses),
                      "; of tracepoints: FIELD, EVENT.FIELD, trace_fields; of branches: ",
                      keys(report::KeyGroup::kBranches),
                      " (default: comm,dso_from,symbol_from,symbol_to,cycles). Fields of --fields "
                      "are also keys; the first key decides the order of rows");
}

void AddRowOptions(usage::Command& command, ReportArguments& a) {
  AddSortOption(command, a);
  command
      .AddOption(
          "-F,--fields", a.fields,
          "columns, in this order: keys of --sort, overhead, overhead_children, overhead_sys, "
          "overhead_us, overhead_guest_sys, overhead_guest_us, sample and period; with --ci also "
          "overhead_ci, overhead_children_ci and rank (+FIELD adds a column)")
      .ValueName("FIELD,…");
  command.AddOption("--time-quantum", a.time_quantum, "length of the slices of the sort key time")
      .ValueName("TIME")
      .ShowDefault();
  command
      .AddOption("-p,--parent", a.parent,
                 "add the key parent: the first function on a stack that matches this regular "
                 "expression, with --children the outermost; other stacks are [other]")
      .ValueName("REGEX");
  const usage::Option branches =
      command.AddFlag("-b,--branch-stack", a.branch_stack,
                      "show taken branches as rows (default if samples have branch stacks)");
  command
      .AddFlag("--no-branch-stack", a.no_branch_stack,
               "show samples as rows even if they have branch stacks")
      .Excludes(branches);
  const usage::Option group =
      command.AddFlag("--group", a.group,
                      "show the events of a group in one table with a column for each (default); "
                      "without groups, all events form one");
  command.AddFlag("--no-group", a.no_group, "show each event in its own table").Excludes(group);
  command.AddFlag("--latency", a.latency,
                  "sort by latency, the elapsed time while code runs or is waited for, beside the "
                  "CPU time of all threads; needs record --latency");
  command.AddFlag("--mem-mode", a.memory,
                  "weigh rows by the cost of their memory accesses (perf mem record), and sort by "
                  "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_"
                  "ins_lat,local_retire_lat; the keys mem to blocked also do so");
  command.AddFlag("--full-source-path", a.full_source_paths,
                  "with srcline and srcfile: show whole paths");
  AddChildrenOptions(command, a);
}

void AddFilterOptions(usage::Command& command, ReportArguments& a) {
  command.AddOption("--symbol-filter", a.symbol_part, "show only symbols whose name contains this")
      .ValueName("TEXT");
  command.AddFlag("-U,--hide-unresolved", a.hide_unresolved,
                  "leave out samples and callers without a symbol");
  command.AddOption("--socket-filter", a.socket, "only samples of this processor socket")
      .ValueName("SOCKET");
  command.AddFlag("-x,--exclude-other", a.exclude_other,
                  "show only samples whose stack matches --parent");
  AddPartOptions(command, a);
}

void AddLayoutOptions(usage::Command& command, ReportArguments& a) {
  command
      .AddOption("-g,--call-graph", a.call_graph,
                 "graph|flat|fractal|folded|none[,THRESHOLD][,caller|callee]")
      .ValueName("HOW")
      .ValueMayBeMissing();
  command.AddFlag("-G,--inverted", a.inverted, "draw call graphs from the outermost caller");
  AddColumnOptions(command, a);
  command.AddFlag("--ci", a.intervals,
                  "add the 95 % confidence intervals of shares, and ranks; rows that cannot be "
                  "ranked share a rank");
  command.AddFlag("--showcpuutilization", a.show_cpu_utilization,
                  "add the shares of kernel code (sys) and user code (usr)");
  command.AddFlag("--hierarchy", a.hierarchy,
                  "show a tree with one level for each key of --sort; not with --fields");
  AddJsonOption(command, a.json);
  command
      .AddOption("-t,--field-separator", a.separator,
                 "separate columns with this text instead of aligning them; inside columns it "
                 "becomes a dot")
      .ValueName("TEXT");
  command
      .AddOption("-w,--column-widths", a.widths,
                 "widths of the columns, from the first; 0: automatic")
      .ValueName("WIDTH,…");
  AddInlineOption(command, a.view);
  AddFoldOption(command, a.view);
  command.AddFlag("--no-fde", a.no_fde,
                  "show each address without a symbol separately, as perf does, instead of its "
                  "function's start (.eh_frame)");
  AddNameRules(command, a.view.names);
}

void AddOtherViews(usage::Command& command, ReportArguments& a) {
  command.AddFlag("--header", a.header, "show the recording's header first");
  command.AddFlag("--header-only", a.header_only, "show only the recording's header");
  command.AddFlag("-D,--dump-raw-trace", a.dump,
                  "print every record in perf's layout; profiler dump names all fields");
  command.AddFlag("--stats", a.stats, "count the records of each type");
  command.AddFlag("--chains", a.chains,
                  "show how many call chains are whole or broken, and how to mend broken ones");
  command.AddFlag("--unresolved", a.unresolved,
                  "show images and addresses without names, why, and how to get names");
  command.AddFlag("--tasks", a.tasks, "show threads as a tree of parents and children");
  command.AddFlag("--mmaps", a.mappings,
                  "show threads, and the code that each process had mapped at its end");
}

// Adds options of perf that change nothing here, or that are refused.
void AddPerfOptions(usage::Command& command) {
  AddIgnoredOption(command, "--inline", nullptr, "inlined functions are shown; see --no-inline");
  AddIgnoredOption(command, "-m,--modules", nullptr, "symbols of modules are always read");
  AddIgnoredOption(command, "--samples", "N", "only perf's own browser uses it");
  AddIgnoredOption(command, "--percent-type", "TYPE", "use profiler annotate");
  AddIgnoredOption(command, "--disable-order", nullptr,
                   "-D always shows records as they are stored");
  AddIgnoredOption(command, "--itrace", nullptr,
                   "traces (Intel PT, CoreSight) are not decoded, and their size is shown");
  AddIgnoredOption(command, "--objdump,--prefix", "PATH", "only perf's own browser has it");
  AddIgnoredOption(command, "--prefix-strip", "N", "only perf's own browser has it");
  command.AddRefused("--stitch-lbr", "",
                     "chains of --call-graph lbr are not stitched; record with --call-graph dwarf, "
                     "whose chains are whole");
}

// Adds options that change little, because users of perf type them out of habit.
void AddHabits(usage::Command& command, ReportArguments& a) {
  command.AddFlag("-v,--verbose", a.verbose,
                  "show whole paths of images, and list each image whose file has changed since");
  command.AddFlag("-T,--threads", a.thread_counters,
                  "append the counts of each thread (record -s)");
  command.AddFlag("-q,--quiet", a.quiet, "show only rows, without lines that begin with #");
  command.AddFlag("--ns", a.nanoseconds, "with the key time: show nanoseconds");
  command.AddFlag("-I,--show-info", "accepted and ignored: --header always shows everything");
  command.AddFlag("--skip-empty", "accepted and ignored: events without samples have no table");
  command.AddFlag("--raw-trace", a.raw_trace,
                  "accepted, except with the sort key trace, which shows the kernel's text");
  command.AddFlag("--total-cycles", a.total_cycles,
                  "accepted and ignored for recordings without branch stacks");
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
      return absl::InvalidArgumentError(absl::StrCat(
          "--column-widths: '", piece, "' is not a width; give numbers up to ", kWidest));
    }
    widths->push_back(width);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadSeparator(const std::string& text) {
  if (!text.empty() && text != ".") return text;
  return absl::InvalidArgumentError(
      "--field-separator cannot be '.', which replaces the separator inside columns; give another "
      "text");
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
        absl::StrCat("--json: leave out ", View(name), ", which only applies to text"));
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
        absl::StrCat("--branch-stack: rows of branches are sorted by ", report::BranchKeyNames()));
  }
  PROFILER_RETURN_IF_ERROR(CheckJson(arguments));
  if (arguments.hierarchy && !arguments.fields.empty()) {
    return absl::InvalidArgumentError(
        "--hierarchy cannot be used with --fields; its levels are the keys of --sort");
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
    return absl::InvalidArgumentError("--percent-limit needs a number such as 0.5");
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

// True if the output depends on callers. Text without accumulated rows and call graphs does not.
bool ShowsCallers(const ReportArguments& arguments, const ReportPlan& plan) {
  const analysis::Plan& steps = plan.load.plan;
  const bool has_graphs = plan.options.call_graph.type != report::CallGraphType::kNone;
  const bool has_sums = plan.options.children.value_or(true);
  const bool is_other_output = arguments.json || arguments.chains || arguments.unresolved;
  const bool edits_stacks = steps.ignored_callees || steps.ignored_callers || steps.fold_native ||
                            steps.hide_unresolved || steps.sources.parent;
  return has_graphs || has_sums || is_other_output || edits_stacks || arguments.latency;
}

}  // namespace

void AddSortOption(usage::Command& command, ReportArguments& a) {
  command.AddOption("-s,--sort", a.sort, SortHelp()).ValueName("KEY,…");
}

void AddChildrenOptions(usage::Command& command, ReportArguments& a) {
  command.AddFlag("--children", a.children,
                  "accumulate the weight of callees (default with call chains)");
  command.AddFlag("--no-children", a.no_children, "show only the weight of functions themselves");
}

void AddPartOptions(usage::Command& command, ReportArguments& a) {
  command
      .AddOption("--ignore-callees", a.ignored_callees,
                 "count callees as part of functions that match this regular expression")
      .ValueName("REGEX");
  command
      .AddOption("--ignore-callers", a.ignored_callers,
                 "start stacks at functions that match this regular expression")
      .ValueName("REGEX");
  command.AddOption("--percent-limit", a.percent_limit, "leave out rows below this percentage")
      .ValueName("PERCENT");
  command
      .AddOption("--percentage", a.percentage,
                 "percentages of the samples that pass the filters (relative) or of all (absolute)")
      .OneOf({"absolute", "relative"})
      .ShowDefault();
}

void AddColumnOptions(usage::Command& command, ReportArguments& a) {
  command.AddOption("--max-stack", a.max_stack, "use at most this many frames of a call chain")
      .ShowDefault();
  command.AddFlag("-n,--show-nr-samples", a.show_samples, "add a column of sample counts");
  command.AddFlag("--show-total-period", a.show_period, "add a column of summed periods");
}

bool ReportPlan::SortsBy(SortKey key) const {
  return std::find(options.sort.begin(), options.sort.end(), key) != options.sort.end();
}

void AddReportOptions(usage::Command& command, ReportArguments& arguments) {
  AddViewOptions(command, arguments.view,
                 {.events = ShownEvents::kAll,
                  .output = "file to write; - for standard output; FILE.html for a page with all "
                            "views, to which only the options that choose samples and names apply",
                  .argument = "recording, or profile of another program (default: -i); any other "
                              "word shows only symbols that contain it"});
  AddRowOptions(command, arguments);
  AddFilterOptions(command, arguments);
  AddLayoutOptions(command, arguments);
  AddOtherViews(command, arguments);
  AddHabits(command, arguments);
  AddPerfOptions(command);
  AddSourceOption(command, arguments.source);
  command.AddFlag("--stdio", arguments.stdio,
                  "print plain text; the default unless standard input and output are terminals");
  command.AddFlag("--tui", arguments.tui,
                  "open a browser on the terminal; the default there (docs/browser.md)");
  command.AddFlag(
      "-f,--force",
      "accepted and ignored: recordings of other users are always read if permissions allow it");
}

absl::StatusOr<ReportPlan> ReadReportPlan(const ReportArguments& arguments,
                                          const report::TraceFieldsOf& trace_fields_of) {
  ReportPlan plan;
  PROFILER_RETURN_IF_ERROR(ReadOptions(arguments, trace_fields_of, &plan));
  PROFILER_ASSIGN_OR_RETURN(plan.load, LoadOptionsOf(arguments.view));
  PROFILER_RETURN_IF_ERROR(ReadPatterns(arguments, &plan));
  if (arguments.raw_trace && plan.SortsBy(SortKey::kTrace)) {
    return absl::InvalidArgumentError(
        "--raw-trace cannot be used with the key trace, which shows the kernel's text; leave it "
        "out, or use profiler dump");
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
  plan.load.keep_callers = ShowsCallers(arguments, plan);
  return plan;
}

}  // namespace profiler::cli
