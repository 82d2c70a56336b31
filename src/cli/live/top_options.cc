#include "src/cli/live/top_options.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/cli/option_values.h"
#include "src/cli/perf_options.h"
#include "src/cli/recording/record_options.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/naming_arguments.h"
#include "src/cli/views/report_arguments.h"
#include "src/cli/views/report_options.h"
#include "src/views/report/sort_keys.h"

namespace profiler::cli {
namespace {

using profile::Dimension;
using std::chrono::milliseconds;

// The shortest and the longest refresh, in seconds.
constexpr double kShortestDelay = 0.1, kLongestDelay = 60;
// Windows are not longer than this, so that the last seconds can be shown.
constexpr milliseconds kLongestWindow{1'000};
// Windows of the last minute are kept.
constexpr std::chrono::seconds kKept{60};

void AddShownTime(usage::Command& command, TopArguments& a) {
  command.AddOption("-d,--delay", a.delay, "refresh every N seconds")
      .ValueName("SECONDS")
      .InRange(kShortestDelay, kLongestDelay, usage::InHelp::kNo)
      .ShowDefault();
  command
      .AddOption("--last", a.last,
                 "show the samples of this time, up to 1m; all: since the beginning; decay: of the "
                 "last minute, an eighth less at each refresh")
      .ValueName("2s|10s|1m|all|decay")
      .ShowDefault();
  command.AddFlag("-z,--zero", a.zero,
                  "show only the samples since the last refresh, as key z does");
}

void AddRows(usage::Command& command, TopArguments& a) {
  command
      .AddOption("-E,--entries", a.entries,
                 "show at most N rows (default: as many as the terminal has lines; 40 "
                 "elsewhere)")
      .ValueName("N")
      .Positive();
  command.AddFlag("-K,--hide-kernel,--hide_kernel_symbols", a.hide_kernel,
                  "leave out samples of kernel code");
  command.AddFlag("-U,--hide-user,--hide_user_symbols", a.hide_user,
                  "leave out samples of user code");
  command.AddFlag("--idle", a.show_idle, "show idle CPUs too, which are only counted otherwise");
  command.AddFlag("--all-cgroups", a.cgroups,
                  "record the cgroup of each sample, for the key cgroup of --sort");
}

void AddOutput(usage::Command& command, TopArguments& a) {
  command.AddFlag("--stdio", a.stdio, "print a table at each refresh");
  AddJsonOption(command, a.report.json);
  command.AddOption("--iterations", a.iterations, "stop after N tables or documents")
      .ValueName("N")
      .Positive();
  command
      .AddOption("-w,--write", a.write,
                 "write a recording for all views to this file at the end; it has sums of samples, "
                 "not their times")
      .ValueName("FILE");
}

// Adds options of perf that have no effect here, or that are refused.
void AddPerfOptions(usage::Command& command) {
  AddIgnoredOption(command, "-D,--dump-symtab", nullptr, "symbols are shown by profiler symbolize");
  AddIgnoredOption(command, "--tui", nullptr, "it is the default on a terminal");
  AddIgnoredOption(command, "--num-thread-synthesize", "N",
                   "one thread reads the running processes");
  AddIgnoredOption(command, "--overwrite", nullptr, "top empties its rings in time");
  AddIgnoredOption(command, "--namespaces", nullptr, "no view of top shows namespaces");
  AddIgnoredOption(command, "--proc-map-timeout", "MS",
                   "mappings are read from /proc without a limit of time");
  AddIgnoredOption(command, "--demangle-kernel", nullptr, "kernel symbols are demangled anyway");
  AddIgnoredOption(command, "--no-bpf-event", nullptr, "BPF programs are named by their records");
  AddIgnoredOption(command, "--addr2line,--objdump,--prefix", "PATH",
                   "this program reads debug information and code itself");
  AddIgnoredOption(command, "--prefix-strip", "N", "paths are not changed");
  AddIgnoredOption(command, "-M,--disassembler-style", "STYLE", "instructions are in AT&T syntax");
  AddIgnoredOption(command, "--raw-trace", nullptr, "top does not show records of tracepoints");
  AddIgnoredOption(command, "--source,--asm-raw", nullptr,
                   "use profiler annotate, which shows both");
  AddIgnoredOption(command, "--group-sort-idx", "N", "each event has a table of its own");
  AddIgnoredOption(command, "--ignore-vmlinux", nullptr,
                   "a vmlinux is used only for lines, or if it was named");
  command.AddRefused("-b,--branch-any", "",
                     "top shows samples, not branches: use record -b and report --branch-stack");
  command.AddRefused("-j,--branch-filter", "KIND",
                     "top shows samples, not branches: use record -j and report --branch-stack");
  command.AddRefused("--branch-history", "",
                     "call chains contain no branches: use record --call-graph dwarf");
  command.AddRefused("--stitch-lbr", "",
                     "the pieces of --call-graph lbr are not put together: use --call-graph dwarf, "
                     "whose chains are whole");
  command.AddRefused("--switch-on,--switch-off", "EVENT",
                     "top does not begin and end at events: use record --control");
  command.AddRefused("--show-on-off-events", "", "top has neither --switch-on nor --switch-off");
  command.AddRefused("-f,--count-filter", "N", "use --percent-limit, which hides light rows");
  command.AddRefused("--column-widths", "WIDTH,…",
                     "columns are as wide as they need to be: use --sort for fewer columns");
  command.AddRefused("--sym-annotate", "SYMBOL",
                     "press a on a row, or write a recording with -w and use profiler annotate");
}

// Splits "dwarf,8192,graph,0.5,caller" into the part about recording and the part about drawing,
// because perf top has one option for both.
void SplitCallGraph(TopArguments& a) {
  std::vector<std::string> words = SplitList(a.record.call_graph);
  if (words.empty()) return;
  const auto is_record = [](const std::string& word) {
    return word == "fp" || word == "dwarf" || word == "auto" || word == "none" || word == "lbr";
  };
  size_t first_drawn = 0;
  if (is_record(words[0])) {
    first_drawn = 1;
    uint32_t bytes = 0;
    if (words.size() > 1 && absl::SimpleAtoi(words[1], &bytes)) first_drawn = 2;
  }
  const auto middle = words.begin() + static_cast<ptrdiff_t>(first_drawn);
  if (middle == words.end()) return;
  a.report.call_graph = absl::StrJoin(middle, words.end(), ",");
  a.record.call_graph = absl::StrJoin(words.begin(), middle, ",");
  if (a.record.call_graph.empty()) a.record.call_chains = true;
}

// Checks that the keys of --sort need nothing that windows lack.
absl::Status CheckSortKeys(const ReportPlan& plan) {
  for (const report::SortKey key : plan.options.sort) {
    const auto dimension = report::DimensionOf(key);
    const auto source = dimension ? analysis::SourceOf(*dimension) : std::nullopt;
    if (!source || *source == Dimension::kCpu || *source == Dimension::kCgroup) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--sort: top does not record the data for the key ",
                     std::string(report::EntryOf(key).name), "; use record and report"));
  }
  return absl::OkStatus();
}

absl::Status CheckWrite(const std::string& path) {
  if (path.empty() || path.find_first_not_of("0123456789,") != std::string::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("-w: '", path,
                   "' looks like column widths of perf, which top does not have; "
                   "for a file of this name, give -w ./",
                   path));
}

}  // namespace

absl::StatusOr<Shown> ParseShown(const std::string& text) {
  if (text == "all") return Shown();
  if (text == "decay") return Shown{.range = kKept, .decays = true};
  const auto time = ParseDuration(text);
  if (time.ok() && *time <= kKept) return Shown{.range = *time};
  return absl::InvalidArgumentError(absl::StrCat(
      "--last: '", text, "' is not a time; give one up to 1m, such as 2s, or all or decay"));
}

std::string ShownInWords(const live::Range& range, live::Decay decay) {
  if (!range) return "all";
  const double seconds = std::chrono::duration<double>(*range).count();
  return absl::StrCat("the last ", seconds, " s", decay.count() == 0 ? "" : ", decaying");
}

void AddTopOptions(usage::Command& command, TopArguments& a) {
  AddTargetOptions(command, "show", &a.record.targets);
  AddSampledEventOptions(command, a.record);
  AddRateOptions(command, a.record);
  AddChainOptions(command, a.record);
  AddOffCpuOptions(command, a.record);
  AddRingOptions(command, a.record);
  AddLengthOptions(command, a.record);
  AddShownTime(command, a);
  AddSortOption(command, a.report);
  AddChildrenOptions(command, a.report);
  AddNameFilters(command, FilterNames::kLongOnly, a.report.view.filter);
  AddRows(command, a);
  AddPartOptions(command, a.report);
  AddColumnOptions(command, a.report);
  AddInlineOption(command, a.report.view);
  AddFoldOption(command, a.report.view);
  AddNameRules(command, a.report.view.names);
  command.AddFlag("-H,--hierarchy", a.report.hierarchy,
                  "show a tree with one level for each key of --sort");
  command.AddFlag("--no-demangle", a.report.view.names.no_demangle,
                  "show mangled symbols, as the linker has them");
  AddOutput(command, a);
  AddFilePlaceOptions(command, a.report.view.places);
  AddKernelOptions(command, a.report.view.places);
  command.AddFlag("-v,--verbose", a.record.verbosity, "print more about the recording itself");
  AddPerfOptions(command);
}

absl::StatusOr<TopPlan> ReadTopPlan(const usage::Command& command, TopArguments a,
                                    const Invocation& invocation) {
  TopPlan plan;
  PROFILER_RETURN_IF_ERROR(CheckWrite(a.write));
  SplitCallGraph(a);
  const bool draws_graph = a.report.call_graph.has_value();
  if (!draws_graph) a.report.call_graph = "none";
  TargetArguments& targets = a.record.targets;
  plan.is_default_target = targets.processes.empty() && targets.tids.empty() &&
                           targets.user.empty() && targets.cpus.empty() && !targets.system_wide &&
                           invocation.command.empty();
  if (plan.is_default_target) targets.system_wide = true;
  a.record.contents.cgroup = a.cgroups;
  // Filters may name single processes and threads, and rows of --sort pid and tid are of these.
  PROFILER_ASSIGN_OR_RETURN(plan.report, ReadReportPlan(a.report));
  PROFILER_RETURN_IF_ERROR(CheckSortKeys(plan.report));
  PROFILER_ASSIGN_OR_RETURN(const Shown shown, ParseShown(a.last));
  plan.range = shown.range;
  plan.report.options.most_rows = a.entries;
  plan.delay = Milliseconds(a.delay * 1000);
  if (shown.decays) plan.decay = plan.delay;
  plan.since_refresh = a.zero;
  PROFILER_ASSIGN_OR_RETURN(plan.live.recording, ReadRecordOptions(command, a.record, invocation));
  plan.live.history.kept = kKept;
  live::WindowOptions& windows = plan.live.windows;
  windows.naming = plan.report.load.naming;
  windows.naming.warn = nullptr;  // a screen has no place for messages
  windows.window = std::min(plan.delay, kLongestWindow);
  windows.keeps_cpu = plan.report.load.dimensions[static_cast<size_t>(Dimension::kCpu)];
  windows.keeps_cgroup = plan.report.load.dimensions[static_cast<size_t>(Dimension::kCgroup)];
  windows.own_pids = {static_cast<uint32_t>(getpid())};
  windows.keeps_idle = a.show_idle;
  return plan;
}

}  // namespace profiler::cli
