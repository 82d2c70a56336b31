// profiler stat

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ringbuf/kernel.h"
#include "src/base/atomic_file.h"
#include "src/base/shared_directory.h"
#include "src/base/unique_fd.h"
#include "src/cli/command.h"
#include "src/cli/command_end.h"
#include "src/cli/option_values.h"
#include "src/cli/recording/event_arguments.h"
#include "src/cli/recording/target_arguments.h"
#include "src/cli/recording/verbose_kernel.h"
#include "src/cli/terminal/line_fitter.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/report_options.h"
#include "src/count/metrics.h"
#include "src/count/print_counts.h"
#include "src/count/stat_session.h"

namespace profiler::cli {
namespace {

// The events that are counted if there is no -e. EventTexts adds a clock to them. An event that the
// machine does not have is reported.
constexpr char kDefaultEvents[] =
    "context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses";
// Additional events: -d counts those of the first line, -dd those of the first two lines, and -ddd
// all.
constexpr const char* kDetails[] = {
    "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
    "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
    "L1-dcache-prefetches,L1-dcache-prefetch-misses"};

struct StatArguments {
  EventArguments events;
  std::vector<std::string> metrics;
  int details = 0;
  TargetArguments targets;
  bool by_cpu = false, by_core = false, by_socket = false, by_node = false, by_thread = false;
  bool no_inherit = false;
  uint32_t repeat = 1;
  uint32_t interval_ms = 0;
  uint32_t interval_count = 0;
  double delay_ms = 0;
  std::string control;
  double timeout_ms = 0;
  std::string separator;
  bool perf_json = false;
  bool json = false;
  std::string output;
  bool append = false;
  bool big_numbers = true;
  bool null_run = false;
  int verbosity = 0;
};

// Returns the events of -M, or else the default events with those of -d.
absl::StatusOr<std::vector<std::string>> EventTexts(const StatArguments& arguments) {
  std::vector<std::string> texts;
  for (const std::string& list : arguments.metrics) {
    for (const std::string& name : SplitList(list)) {
      PROFILER_ASSIGN_OR_RETURN(texts.emplace_back(), count::EventsOfMetric(name));
    }
  }
  if (!texts.empty()) return texts;
  texts = {arguments.targets.system_wide ? "cpu-clock" : "task-clock", kDefaultEvents};
  for (int i = 0; i < std::min<int>(arguments.details, std::size(kDetails)); ++i) {
    texts.emplace_back(kDetails[i]);
  }
  return texts;
}

count::Aggregation AggregationOf(const StatArguments& arguments) {
  if (arguments.by_cpu) return count::Aggregation::kCpu;
  if (arguments.by_core) return count::Aggregation::kCore;
  if (arguments.by_socket) return count::Aggregation::kSocket;
  if (arguments.by_node) return count::Aggregation::kNode;
  if (arguments.by_thread) return count::Aggregation::kThread;
  return count::Aggregation::kAll;
}

absl::StatusOr<count::StatOptions> ReadOptions(const usage::Command& subcommand,
                                               const StatArguments& arguments,
                                               const Invocation& invocation) {
  count::StatOptions options;
  PROFILER_ASSIGN_OR_RETURN(std::vector<std::string> command, CommandOf(subcommand, invocation));
  PROFILER_ASSIGN_OR_RETURN(options.targets,
                            ReadTargets(arguments.targets, "count", std::move(command)));
  // With -C, all threads on these CPUs are counted, even if a command is given, as in perf.
  target::Targets& targets = options.targets;
  if (!targets.cpus.empty() && !targets.has_threads()) targets.system_wide = true;
  options.aggregation = AggregationOf(arguments);
  if (!arguments.metrics.empty() && !arguments.events.events.empty()) {
    return absl::InvalidArgumentError(
        "-M and -e cannot be used together, because a metric names its own events");
  }
  if (!arguments.null_run) {
    PROFILER_ASSIGN_OR_RETURN(const std::vector<std::string> texts, EventTexts(arguments));
    PROFILER_ASSIGN_OR_RETURN(options.events, FindEventArguments(subcommand, arguments.events,
                                                                 texts, options.targets.command));
  }
  options.inherit = !arguments.no_inherit;
  options.repeat = arguments.repeat;
  options.interval = std::chrono::milliseconds(arguments.interval_ms);
  options.interval_count = arguments.interval_count;
  PROFILER_ASSIGN_OR_RETURN(const auto delay, ReadDelay("-D", arguments.delay_ms));
  options.starts_disabled = !delay.has_value();
  if (delay) options.delay = *delay;
  if (!arguments.control.empty()) {
    PROFILER_ASSIGN_OR_RETURN(options.control, target::ParseControl(arguments.control));
  }
  if (arguments.timeout_ms > 0) options.timeout = Milliseconds(arguments.timeout_ms);
  return options;
}

std::string TargetOf(const target::Targets& targets) {
  if (targets.system_wide) {
    return targets.cpus.empty() ? "'system wide'"
                                : absl::StrCat("'CPU(s) ", absl::StrJoin(targets.cpus, ","), "'");
  }
  if (!targets.pids.empty()) {
    return absl::StrCat("process id '", absl::StrJoin(targets.pids, ","), "'");
  }
  if (!targets.tids.empty()) {
    return absl::StrCat("thread id '", absl::StrJoin(targets.tids, ","), "'");
  }
  return absl::StrCat("'", absl::StrJoin(targets.command, " "), "'");
}

// The output. By default it is standard error, as in perf, because standard output belongs to the
// command.
class CountOutput {
 public:
  absl::Status Open(const std::string& path, bool append) {
    if (path.empty()) return absl::OkStatus();
    path_ = path;
    PROFILER_RETURN_IF_ERROR(CheckSharedName(path, FileOfOthers::kReplaced));
    PROFILER_ASSIGN_OR_RETURN(const UniqueFd fd, append ? Lengthened(path) : Replaced(path));
    file_.reset(fdopen(fcntl(fd.get(), F_DUPFD_CLOEXEC, 0), append ? "a" : "w"));
    return file_ == nullptr ? ErrnoStatus(errno, path) : absl::OkStatus();
  }
  void Write(const std::string& lines) {
    const bool is_shown = file_ == nullptr;
    std::FILE* file = is_shown ? stderr : file_.get();
    const size_t columns = is_shown ? StyleOfStandardError().columns : 0;
    const std::string text = WithNarrowComments(lines, columns);
    std::fwrite(text.data(), 1, text.size(), file);
    if (std::fflush(file) != 0 && status_.ok() && !path_.empty()) {
      status_ = WriteError(errno, path_);
    }
  }
  const absl::Status& status() const { return status_; }

 private:
  // Replaces an old file at once, because with -I the new file is read while it grows.
  static absl::StatusOr<UniqueFd> Replaced(const std::string& path) {
    constexpr mode_t kForAll = 0666;  // minus the umask
    if (!AtomicFile::CanReplace(path)) return OpenInPlace(path, O_WRONLY);
    auto file = AtomicFile::Create(path, kForAll);
    if (absl::IsPermissionDenied(file.status())) return OpenInPlace(path, O_WRONLY);
    PROFILER_RETURN_IF_ERROR(file.status());
    UniqueFd fd(fcntl(file->fd(), F_DUPFD_CLOEXEC, 0));
    if (!fd.valid()) return ErrnoStatus(errno, path);
    PROFILER_RETURN_IF_ERROR(file->Commit({.sync = false}));
    return fd;
  }
  static absl::StatusOr<UniqueFd> Lengthened(const std::string& path) {
    struct stat old;
    if (stat(path.c_str(), &old) != 0) return Replaced(path);
    return OpenInPlace(path, O_WRONLY | O_APPEND);
  }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  absl::Status status_;
};

int Stat(const StatArguments& arguments, const count::StatOptions& options) {
  CountOutput output;
  if (const absl::Status opened = output.Open(arguments.output, arguments.append); !opened.ok()) {
    PrintError(opened);
    return kExitFailure;
  }
  count::PrintOptions print{.big_numbers = arguments.big_numbers,
                            .aggregation = options.aggregation};
  if (arguments.json) {
    print.format = count::Format::kDocument;
  } else if (arguments.perf_json) {
    print.format = count::Format::kPerfJson;
  } else if (!arguments.separator.empty()) {
    print.format = count::Format::kSeparated;
    print.separator = arguments.separator == "\\t" ? "\t" : arguments.separator;
  }
  const count::CountPrinter printer(options.events, print);
  if (options.interval.count() > 0) output.Write(printer.IntervalHead());
  VerboseKernel verbose_kernel(ringbuf::LinuxKernel(), PrintLines);
  ringbuf::Kernel& kernel = arguments.verbosity > 1 ? verbose_kernel : ringbuf::LinuxKernel();
  for (const std::string& note : options.targets.notes) PrintNote(note);
  const auto result = count::RunStat(
      kernel, options, [&](const count::StatResult& so_far, const count::CountTable& interval) {
        output.Write(printer.Interval(so_far, interval));
      });
  if (!result.ok()) {
    PrintError(result.status());
    return target::CommandFailure(result.status()).value_or(kExitFailure);
  }
  if (options.interval.count() == 0)
    output.Write(printer.Result(*result, TargetOf(options.targets)));
  for (const std::string& note : result->notes) PrintWarning(note);
  for (size_t i = 0; i < options.events.size(); ++i) {
    if (!result->excludes_kernel[i]) continue;
    PrintWarning(
        "this user may not count kernel code, so events are counted in user space only; `sudo "
        "sysctl kernel.perf_event_paranoid=1` allows it");
    break;
  }
  if (!output.status().ok()) {
    PrintError(output.status());
    return kExitFailure;
  }
  return EndAsTheCommand(result->command);
}

void AddOptions(usage::Command& command, StatArguments& a) {
  AddEventOptions(command, "events to count; `profiler list` shows all", &a.events);
  command
      .AddOption("-M,--metrics", a.metrics,
                 "count the events of a ratio: " + absl::StrJoin(count::MetricNames(), ", "))
      .ValueName("NAME,…")
      .OneValueEach();
  command.AddFlag("-d,--detailed", a.details,
                  "also count caches; -dd: also TLBs; -ddd: also prefetches");
  AddTargetOptions(command, "count", &a.targets);
  command.AddFlag("-A,--no-aggr", a.by_cpu, "show one line for each CPU");
  command.AddFlag("--per-core", a.by_core, "show one line for each core");
  command.AddFlag("--per-socket", a.by_socket, "show one line for each socket");
  command.AddFlag("--per-node", a.by_node, "show one line for each memory node");
  command.AddFlag("--per-thread", a.by_thread, "show one line for each thread");
  command.AddFlag("-i,--no-inherit", a.no_inherit, "do not count new threads and children");
  command
      .AddOption("-r,--repeat", a.repeat,
                 "run the command N times, and show means with their deviation")
      .ValueName("N");
  command.AddOption("-I,--interval-print", a.interval_ms, "show counts every MS milliseconds")
      .ValueName("MS")
      .InRange(1u, UINT32_MAX);
  command.AddOption("--interval-count", a.interval_count, "with -I: end after this many intervals")
      .ValueName("N");
  command
      .AddOption("-D,--delay", a.delay_ms,
                 "wait MS milliseconds before counting; -1: wait for `enable` on --control")
      .ValueName("MS");
  command
      .AddOption("--control", a.control,
                 "read the commands enable, disable, stop and ping from there, and answer ack")
      .ValueName("fd:N[,N]|fifo:PATH[,PATH]");
  command.AddOption("--timeout", a.timeout_ms, "end after this many milliseconds").ValueName("MS");
  const usage::Option separated =
      command.AddOption("-x,--field-separator", a.separator, "separate values with this text")
          .ValueName("SEP");
  const usage::Option perf_json =
      command.AddFlag("-j,--json-output", a.perf_json, "print perf's JSON, one object per line");
  AddJsonOption(command, a.json).Excludes(separated).Excludes(perf_json);
  command.AddOption("-o,--output", a.output, "file to write, instead of standard error")
      .ValueName("FILE");
  command.AddFlag("--append", a.append, "with -o: append to the file");
  command.AddFlag("-B,--big-num,!--no-big-num", a.big_numbers, "print 1,234,567 (default)");
  command.AddFlag("-v,--verbose", a.verbosity, "-vv: print each event that is opened");
  command.AddFlag("-n,--null", a.null_run, "count nothing; only time the command");
}

}  // namespace

void AddStatCommand(usage::Command& app, Commands& commands, Invocation invocation) {
  usage::Command& command = app.AddCommand("stat", "Count events while a program runs");
  command.SetFooter("Without a command, counting ends at Ctrl-C or when all targets have ended.");
  command.SetRunsProgram();
  auto arguments = std::make_shared<StatArguments>();
  AddOptions(command, *arguments);

  commands[&command] = [arguments, &command, invocation = std::move(invocation)] {
    const auto options = ReadOptions(command, *arguments, invocation);
    if (!options.ok()) {
      PrintError(options.status());
      return kExitUsage;
    }
    return Stat(*arguments, *options);
  };
}

}  // namespace profiler::cli
