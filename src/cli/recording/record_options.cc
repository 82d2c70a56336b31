#include "src/cli/recording/record_options.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/text.h"
#include "src/cli/option_values.h"
#include "src/cli/terminal/output.h"
#include "src/cli/version.h"
#include "src/cli/views/naming_arguments.h"
#include "src/format/perf_event/branch_filter.h"
#include "src/format/perf_event/off_cpu_events.h"
#include "src/format/perf_event/register_names.h"
#include "src/machine/events/find_events.h"

namespace profiler::cli {

namespace {

constexpr char kDefaultEvent[] = "cycles";  // replaced by cpu-clock without hardware counters

struct Clock {
  clockid_t id;
  std::string_view names[3];
};
constexpr Clock kClocks[] = {
    {CLOCK_MONOTONIC, {"CLOCK_MONOTONIC", "monotonic", "mono"}},
    {CLOCK_MONOTONIC_RAW, {"CLOCK_MONOTONIC_RAW", "monotonic_raw", "raw"}},
    {CLOCK_REALTIME, {"CLOCK_REALTIME", "realtime", "real"}},
    {CLOCK_BOOTTIME, {"CLOCK_BOOTTIME", "boottime", "boot"}},
    {CLOCK_TAI, {"CLOCK_TAI", "tai", "tai"}},
};

absl::StatusOr<clockid_t> ReadClock(const std::string& text) {
  for (const Clock& clock : kClocks) {
    for (const std::string_view name : clock.names) {
      if (absl::EqualsIgnoreCase(View(name), text)) return clock.id;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "-k: '", text,
      "' is not a clock of perf events; give monotonic, monotonic_raw, realtime, boottime or tai"));
}

absl::Status ReadFrequency(const std::string& text, uint64_t* frequency) {
  if (text == "max") {
    *frequency = record::RecordOptions::kMaxFrequency;
    return absl::OkStatus();
  }
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != 0 || text[0] == '-' || errno != 0 || value == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("-F: '", text, "' is not a frequency; give samples per second, or max"));
  }
  *frequency = value;
  return absl::OkStatus();
}

// Parses fp, dwarf, dwarf,BYTES, auto or none; -g without --call-graph means auto.
absl::Status ReadCallGraph(const RecordArguments& arguments, record::RecordOptions* options) {
  using record::CallGraph;
  const std::string& text = arguments.call_graph;
  const size_t comma = std::min(text.find(','), text.size());
  const std::string how = text.substr(0, comma);
  if (how == "fp") {
    options->call_graph = CallGraph::kFramePointers;
  } else if (how == "dwarf") {
    options->call_graph = CallGraph::kDwarf;
  } else if (how == "auto" || (how.empty() && arguments.call_chains)) {
    options->call_graph = CallGraph::kAuto;
  } else if (!how.empty() && how != "none") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--call-graph: '", text, "' is unknown; give fp, dwarf[,BYTES], auto or none"));
  }
  if (comma < text.size()) {
    uint32_t bytes = 0;
    if (how != "dwarf" || !absl::SimpleAtoi(text.substr(comma + 1), &bytes) || bytes == 0 ||
        bytes > record::kMostStackBytes) {
      return absl::InvalidArgumentError(absl::StrCat("--call-graph: '", text,
                                                     "': give dwarf,BYTES with at most ",
                                                     record::kMostStackBytes, " bytes of stack"));
    }
    options->stack_bytes = (bytes + 7) / 8 * 8;
  }
  // Only the kernel's part needs no unwinding.
  if (arguments.kernel_chains && options->call_graph != CallGraph::kNone) {
    options->call_graph = CallGraph::kFramePointers;
  }
  options->chain_part = arguments.kernel_chains ? record::ChainPart::kKernel
                        : arguments.user_chains ? record::ChainPart::kUser
                                                : record::ChainPart::kBoth;
  options->post_unwind = arguments.post_unwind;
  if (!options->post_unwind || options->call_graph == CallGraph::kDwarf) return absl::OkStatus();
  return absl::InvalidArgumentError("--post-unwind needs --call-graph dwarf");
}

std::string RegisterNames(perf_event::Architecture architecture) {
  std::vector<std::string> names;
  for (int bit = 0; bit < 64; ++bit) {
    const std::string_view name = perf_event::RegisterName(architecture, bit);
    if (name != "unknown") names.emplace_back(name);
  }
  return absl::StrJoin(names, " ");
}

// Converts "ax,ip" to a register mask.
absl::StatusOr<uint64_t> ParseRegisters(const char* option, const std::string& text) {
  const auto architecture = perf_event::NativeArchitecture();
  uint64_t mask = 0;
  for (const std::string& name : SplitList(text)) {
    int bit = 0;
    while (bit < 64 &&
           !absl::EqualsIgnoreCase(View(perf_event::RegisterName(architecture, bit)), name)) {
      ++bit;
    }
    if (bit == 64) {
      return absl::InvalidArgumentError(absl::StrCat(option, ": unknown register '", name,
                                                     "': use ", RegisterNames(architecture)));
    }
    mask |= uint64_t{1} << bit;
  }
  return mask;
}

// Parses "signal", a size or a time, like perf.
absl::StatusOr<record::SwitchOutput> ParseSwitchOutput(const std::string& text) {
  record::SwitchOutput output;
  if (text == "signal") {
    output.at_signal = true;
    return output;
  }
  if (const auto time = ParseDuration(text); time.ok()) {
    output.time = *time;
    return output;
  }
  if (const auto bytes = ParseSize(text); bytes.ok() && text.find_last_of("BKMG") != text.npos) {
    output.bytes = *bytes;
    return output;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--switch-output: '", text,
      "' is unknown; give signal, a size (512K, 100M, 1G) or a time (500ms, 10s, 5m, 1h, 1d)"));
}

absl::Status ReadSwitchOutput(const usage::Command& subcommand, const RecordArguments& arguments,
                              record::RecordOptions* options) {
  options->timestamp_filename = arguments.timestamp_filename;
  std::string text = arguments.switch_output;
  // In perf, --switch-output-event implies --switch-output=signal.
  if (text.empty() && arguments.flight.switches_files()) text = "signal";
  if (text.empty()) {
    if (arguments.most_files == 0) return absl::OkStatus();
    return absl::InvalidArgumentError("--switch-max-files needs --switch-output");
  }
  PROFILER_ASSIGN_OR_RETURN(options->switch_output, ParseSwitchOutput(text));
  options->switch_output->most_files = arguments.most_files;
  // Views look for the last file under the default name.
  options->switch_output->last_keeps_name = subcommand.Count("--output") == 0;
  return absl::OkStatus();
}

// Reads -D, unless it is a list of times.
absl::Status ReadDelayOption(const RecordArguments& arguments, record::RecordOptions* options) {
  PROFILER_ASSIGN_OR_RETURN(const auto times, ReadEnabledTimes(arguments));
  options->starts_disabled = !times.empty();
  double milliseconds = 0;
  if (!times.empty() || arguments.delay.empty()) return absl::OkStatus();
  if (!absl::SimpleAtod(arguments.delay, &milliseconds)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--delay: '", arguments.delay,
                     "' is not a delay; give milliseconds (100) or time ranges (10-20,30-40)"));
  }
  PROFILER_ASSIGN_OR_RETURN(const auto delay, ReadDelay("--delay", milliseconds));
  options->starts_disabled = !delay.has_value();
  if (delay) options->delay = *delay;
  return absl::OkStatus();
}

// Adds options for cutting a recording into files, and for its maximum size.
void AddFileOptions(usage::Command& command, RecordArguments& a) {
  command
      .AddOption(
          "--switch-output", a.switch_output,
          "start a new file at each SIGUSR2 (signal, also the default value), at this size (100M), "
          "or after this time (10s, 5m); files are named as with --timestamp-filename")
      .ValueName("signal|SIZE|TIME");
  command
      .AddOption("--switch-max-files", a.most_files,
                 "with --switch-output: keep only the latest N complete files")
      .ValueName("N")
      .InRange(size_t{1}, size_t{1'000'000}, usage::InHelp::kNo);
  command.AddFlag("--timestamp-filename", a.timestamp_filename,
                  "name the complete file FILE.YYYYMMDDhhmmssNN");
  command.AddOption("--max-size", a.max_size, "stop when the file reaches this size")
      .ValueName("SIZE");
}

// Inserts the event of --wall-clock: samples of the time that threads run, with periods in
// nanoseconds.
absl::Status PutRunningTimeFirst(std::vector<events::FoundEvent>* events) {
  PROFILER_ASSIGN_OR_RETURN(const std::vector<events::FoundEvent> running,
                            events::FindEvents({}, "cpu-clock"));
  for (events::FoundEvent& event : *events) event.leader += running.size();
  events->insert(events->begin(), running.begin(), running.end());
  events->front().name = kRunningEvent;
  return absl::OkStatus();
}

// Returns the branch filter; 0: no branches.
absl::StatusOr<uint64_t> ReadBranches(const RecordArguments& arguments) {
  if (!arguments.branch_filter) return arguments.branch_any ? perf_event::kBranchAny : 0;
  if (arguments.branch_any) {
    return absl::InvalidArgumentError(
        "-b means -j any, so -b and another -j cannot be used together");
  }
  auto filter = perf_event::ParseBranchFilter(*arguments.branch_filter);
  if (filter.ok()) return filter;
  return absl::InvalidArgumentError(absl::StrCat("-j: ", filter.status().message()));
}

// Adds options for the summaries that follow a recording.
void AddEndingOptions(usage::Command& command, RecordArguments& a) {
  command
      .AddOption("--repeat", a.repeat,
                 "run the command N times, write FILE.1, FILE.2 …, and show the mean share of each "
                 "function with its confidence interval")
      .ValueName("N")
      .InRange(1u, 10'000u, usage::InHelp::kNo);
  const usage::Option summary = command.AddFlag(
      "--summary", a.summary,
      "print the output of profiler summary at the end (default if standard error is a terminal)");
  command.AddFlag("--no-summary", a.no_summary, "print no summary at the end").Excludes(summary);
}

// Adds options for the contents of samples, and for additional records.
void AddContentOptions(usage::Command& command, RecordArguments& a) {
  command.AddFlag("-d,--data", a.contents.data_address,
                  "also record the data address and its source, if the CPU reports them");
  command.AddFlag("--phys-data", a.contents.physical_address,
                  "also record the data's physical address");
  command.AddFlag("-W,--weight", a.contents.weight,
                  "also record the sample's weight, for example its latency");
  command.AddFlag("-R,--raw-samples", a.contents.raw,
                  "record raw data of all events, not only of tracepoints");
  command.AddFlag("-b,--branch-any", a.branch_any,
                  "record the branches before each sample: -j any");
  command
      .AddOption("-j,--branch-filter", a.branch_filter,
                 "record the branches of these kinds and levels before each sample: " +
                     perf_event::BranchFilterNames())
      .ValueName("KIND,…");
  command.AddFlag("-s,--stat", a.contents.thread_counts,
                  "record the counts of each thread at its end");
  command
      .AddOption("--user-regs", a.user_registers,
                 "record these registers of user space; ? lists them")
      .ValueName("REG,…");
  command
      .AddOption("--intr-regs", a.interrupt_registers,
                 "record these registers at the sample; ? lists them")
      .ValueName("REG,…");
  command.AddFlag("--all-user", a.all_user, "record only user space, for events without :u or :k");
  command.AddFlag("--all-kernel", a.all_kernel,
                  "record only the kernel, for events without :u or :k");
  AddOffCpuOptions(command, a);
  command.AddFlag("--latency", a.latency,
                  "record the data for report --latency; same as --switch-events");
  command.AddFlag("--switch-events", a.switch_events, "record context switches");
  command.AddFlag("--no-interpreters", a.no_interpreters,
                  "show the C functions of the Python interpreter, not the functions of Python");
  command.AddFlag(
      "--runtime-maps", a.runtime_maps,
      "let Python 3.12, Erlang and .NET write maps of their code, by environment variables "
      "of the command; the command then runs more slowly");
  command.AddFlag("--no-bpf-event", a.no_bpf_events,
                  "do not record when BPF programs are loaded and unloaded");
  command
      .AddOption("-k,--clockid", a.clock,
                 "use this clock for times: monotonic, monotonic_raw, realtime, boottime, tai; "
                 "only monotonic allows unwinding while recording")
      .ValueName("CLOCK");
}

// Adds options of perf that have no effect here.
void AddIgnoredOptions(usage::Command& command, RecordArguments& a) {
  const auto add = [&](const char* names, const char* value, const char* why) {
    a.needless.push_back(AddIgnoredOption(command, names, value, why));
  };
  add("-T,--timestamp,--sample-cpu", nullptr, "samples always have time and CPU");
  add("-P,--period,--sample-identifier", nullptr, "samples always have their period and event");
  add("-N,--no-buildid-cache,-B,--no-buildid", nullptr, "no copies of files are kept");
  add("--buildid-all,--buildid-mmap", nullptr, "mappings always have the build-ids of their files");
  add("--threads", nullptr, "one thread is enough for all rings");
  add("--affinity", "node|cpu", "one thread reads all rings");
  add("--aio", nullptr, "all rings are written by one call");
  add("--mmap-flush", "BYTES", "all rings are written by one call");
  add("--kcore", nullptr, "--embed code keeps the kernel's code that was sampled");
  add("--debuginfod", nullptr,
      "views fetch files from the servers of $DEBUGINFOD_URLS when they show the recording");
  add("--proc-map-timeout", "MS", "reading mappings from /proc has no time limit");
  add("--synth", "WHAT", "existing processes are always recorded before the samples");
  add("--tail-synthesize", nullptr, "existing processes are recorded before the samples");
}

// Adds further options of perf.
void AddFurtherOptions(usage::Command& command, RecordArguments& a) {
  command.AddFlag("-n,--no-samples", a.no_samples,
                  "take no samples; record only counts (-s), new processes and mappings");
  command.AddFlag("--strict-freq", a.strict_frequency,
                  "fail if the kernel's limit is below the frequency of -F");
  const usage::Option user = command.AddFlag("--user-callchains", a.user_chains,
                                             "with -g: record only the user part of call chains");
  command
      .AddFlag("--kernel-callchains", a.kernel_chains,
               "with -g: record only the kernel part of call chains")
      .Excludes(user);
  command.AddFlag("--namespaces", a.namespaces, "record the namespaces of processes");
  command.AddFlag("--all-cgroups", a.contents.cgroup,
                  "record the cgroup of each sample, for the key cgroup of report --sort");
  command.AddFlag("--data-mmap", a.data_mappings, "also record mappings of data");
  command.AddFlag("--exclude-perf", a.events.excludes_self,
                  "leave out tracepoint records of profiler itself");
  command.AddFlag("--no-buffering", a.no_buffering,
                  "write the recording every millisecond instead of every 100 ms");
  command.AddOption("--vmlinux", a.vmlinux, "read the running kernel's source lines from this file")
      .ExistingFile()
      .ValueName("FILE");
  command.AddFlag("--dry-run", a.dry_run, "check the options and events, but record nothing");
}

}  // namespace

void AddRateOptions(usage::Command& command, RecordArguments& a) {
  command.AddOption("-F,--freq", a.frequency, "samples per second per thread, or max")
      .ValueName("N|max")
      .ShowDefault("999");
  command.AddOption("-c,--count", a.period, "take a sample every N events, instead of -F")
      .ValueName("PERIOD")
      .Positive();
}

void AddSampledEventOptions(usage::Command& command, RecordArguments& a) {
  AddEventOptions(command,
                  "cpu-clock, page-faults, sched:sched_switch, /bin/ls:main, {a,b}, …; `profiler "
                  "list` shows all; :u or :k after an event records only user or kernel code "
                  "(default: cycles, or cpu-clock without hardware counters)",
                  &a.events);
}

void AddChainOptions(usage::Command& command, RecordArguments& a) {
  command.AddFlag("-g", a.call_chains, "record call chains: --call-graph auto");
  command
      .AddOption("--call-graph", a.call_graph,
                 "fp: the kernel follows frame pointers; dwarf: unwind BYTES of stack while "
                 "recording (default 65528, or 32768 on small machines); auto: dwarf if the "
                 "targets have no frame pointers; none")
      .ValueName("fp|dwarf[,BYTES]|auto|none");
}

void AddRingOptions(usage::Command& command, RecordArguments& a) {
  command
      .AddOption("-m,--mmap-pages", a.ring_size,
                 "ring of each CPU, in pages (128) or as a size (512K)")
      .ValueName("PAGES|SIZE");
  command
      .AddOption("-r,--realtime", a.realtime,
                 "run with this real-time priority (SCHED_FIFO), 1 to 99")
      .ValueName("PRIO")
      .InRange(1, 99, usage::InHelp::kNo);
}

void AddOffCpuOptions(usage::Command& command, RecordArguments& a) {
  command.AddFlag("--off-cpu", a.off_cpu,
                  "also record how long threads are off the CPU and where they wait, as events "
                  "offcpu-time and preempted-time with periods in nanoseconds; implies -g");
  command
      .AddOption("--off-cpu-thresh", a.off_cpu_threshold_ms,
                 "with --off-cpu: sum up waits below this many milliseconds to one sample for each "
                 "thread and call chain")
      .ValueName("MS");
  command.AddFlag("--wall-clock", a.wall_clock,
                  "--off-cpu plus the time that threads run, as event oncpu-time; report and "
                  "flamegraph show both as one event, wall-clock");
}

void AddLengthOptions(usage::Command& command, RecordArguments& a) {
  command.AddOption("--duration", a.duration, "stop after this many seconds").ValueName("S");
  command.AddFlag("-i,--no-inherit,--per-thread", a.no_inherit,
                  "do not record new threads and children");
}

void AddRecordOptions(usage::Command& command, RecordArguments& a) {
  AddRateOptions(command, a);
  AddSampledEventOptions(command, a);
  AddTargetOptions(command, "record", &a.targets);
  command
      .AddOption("-o,--output", a.output,
                 "file to write; an existing file is renamed to FILE.old; - for standard output, "
                 "as a stream for report -i - or perf report -i -")
      .ValueName("FILE|-")
      .ShowDefault();
  command
      .AddOption(
          "--embed", a.embed,
          "at the end, add to the file: names of all addresses (names), also inlined calls and "
          "source lines (lines), also the code of sampled functions for annotate (code), or "
          "nothing (none); for many samples also sums of samples, by which views open at once")
      .ValueName("code|lines|names|none")
      .OneOf({"code", "lines", "names", "none"})
      .ShowDefault();
  AddCacheOption(command, a.no_cache);
  AddSandboxOption(command, a.no_sandbox);
  a.compression.AddTo(command, "compress the recording with zstd (level 1 to 22, default 1)");
  AddChainOptions(command, a);
  command.AddFlag("--post-unwind", a.post_unwind,
                  "with dwarf: keep stack bytes in the file, and unwind in reports");
  AddRingOptions(command, a);
  command
      .AddOption("-D,--delay", a.delay,
                 "wait MS milliseconds before sampling; -1: wait for `enable` on --control; "
                 "10-20,30-40: sample only in these times since the start")
      .ValueName("MS");
  command
      .AddOption(
          "--control", a.control,
          "read the commands enable, disable, stop, ping and snapshot from there, and answer "
          "ack")
      .ValueName("fd:N[,N]|fifo:PATH[,PATH]");
  AddLengthOptions(command, a);
  AddFileOptions(command, a);
  AddFlightOptions(command,
                   "flight recorder: keep the last 30s (or 500ms, 5m) in memory, and write them to "
                   "FILE.YYYYMMDDhhmmssNN at SIGUSR2 and at `snapshot` on --control",
                   a.flight);
  AddOverwriteOptions(command, a.flight);
  AddEndingOptions(command, a);
  AddContentOptions(command, a);
  AddFurtherOptions(command, a);
  AddIgnoredOptions(command, a);
  command.AddFlag("-q,--quiet", a.quiet, "print errors only");
  command.AddFlag("-v,--verbose", a.verbosity,
                  "print more about the recording itself; -vv: also each event that is opened");
}

std::optional<std::string> ListOfRegisters(const RecordArguments& arguments) {
  if (arguments.user_registers != "?" && arguments.interrupt_registers != "?") return std::nullopt;
  return RegisterNames(perf_event::NativeArchitecture());
}

absl::StatusOr<std::vector<EnabledTime>> ReadEnabledTimes(const RecordArguments& arguments) {
  if (!IsEnabledTimes(arguments.delay)) return std::vector<EnabledTime>();
  if (!arguments.control.empty() || arguments.repeat) {
    return absl::InvalidArgumentError(absl::StrCat("--delay: time ranges cannot be used with ",
                                                   arguments.repeat ? "--repeat" : "--control"));
  }
  return ParseEnabledTimes(arguments.delay);
}

absl::StatusOr<record::RecordOptions> ReadRecordOptions(const usage::Command& subcommand,
                                                        const RecordArguments& arguments,
                                                        const Invocation& invocation) {
  record::RecordOptions options;
  PROFILER_ASSIGN_OR_RETURN(std::vector<std::string> command, CommandOf(subcommand, invocation));
  PROFILER_ASSIGN_OR_RETURN(options.compression_level, arguments.compression.Level(command));
  PROFILER_ASSIGN_OR_RETURN(options.targets,
                            ReadTargets(arguments.targets, "record", std::move(command)));
  if (!arguments.frequency.empty()) {
    PROFILER_RETURN_IF_ERROR(ReadFrequency(arguments.frequency, &options.frequency));
  }
  options.period = arguments.period;
  options.rate_is_asked_for = options.period != 0 || !arguments.frequency.empty();
  options.events_are_default = arguments.events.events.empty() && arguments.verbosity == 0;
  std::vector<std::string> usual_events;
  if (!arguments.wall_clock) usual_events.push_back(kDefaultEvent);
  PROFILER_ASSIGN_OR_RETURN(
      options.events,
      FindEventArguments(subcommand, arguments.events, usual_events, options.targets.command));
  if (arguments.wall_clock) PROFILER_RETURN_IF_ERROR(PutRunningTimeFirst(&options.events));
  PROFILER_RETURN_IF_ERROR(ReadCallGraph(arguments, &options));
  options.inherit = !arguments.no_inherit;
  options.takes_samples = !arguments.no_samples;
  options.strict_frequency = arguments.strict_frequency;
  options.namespaces = arguments.namespaces;
  options.data_mappings = arguments.data_mappings;
  if (arguments.no_buffering) options.tick = std::chrono::milliseconds(1);
  options.contents = arguments.contents;
  PROFILER_ASSIGN_OR_RETURN(options.contents.user_registers,
                            ParseRegisters("--user-regs", arguments.user_registers));
  PROFILER_ASSIGN_OR_RETURN(options.contents.branches, ReadBranches(arguments));
  PROFILER_ASSIGN_OR_RETURN(options.contents.interrupt_registers,
                            ParseRegisters("--intr-regs", arguments.interrupt_registers));
  PROFILER_ASSIGN_OR_RETURN(options.clock, ReadClock(arguments.clock));
  if (!arguments.max_size.empty()) {
    PROFILER_ASSIGN_OR_RETURN(options.max_bytes, ParseSize(arguments.max_size));
  }
  PROFILER_RETURN_IF_ERROR(ReadSwitchOutput(subcommand, arguments, &options));
  options.realtime = arguments.realtime;
  options.all_user = arguments.all_user;
  options.all_kernel = arguments.all_kernel;
  options.switch_events = arguments.switch_events || arguments.latency;
  options.off_cpu = arguments.off_cpu || arguments.wall_clock;
  if (!(arguments.off_cpu_threshold_ms >= 0)) {
    return absl::InvalidArgumentError("--off-cpu-thresh cannot be negative");
  }
  options.off_cpu_threshold = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double, std::milli>(arguments.off_cpu_threshold_ms));
  // Off-CPU times are useful only together with the stacks of the waiting threads.
  if (options.off_cpu && arguments.call_graph.empty()) {
    options.call_graph = record::CallGraph::kAuto;
  }
  options.bpf_events = !arguments.no_bpf_events;
  options.interpreters = !arguments.no_interpreters;
  if (arguments.runtime_maps && options.targets.command.empty()) {
    return absl::InvalidArgumentError(
        "--runtime-maps changes how a command is started, and there is no command; start the "
        "process with PYTHONPERFSUPPORT=1, ERL_FLAGS=\"+JPperf true\" or "
        "DOTNET_PerfMapEnabled=1 instead");
  }
  if (!arguments.ring_size.empty()) {
    const size_t page = sysconf(_SC_PAGESIZE);
    PROFILER_ASSIGN_OR_RETURN(const size_t pages, ParseRingPages(arguments.ring_size, page));
    options.ring_bytes = pages * page;
  }
  PROFILER_RETURN_IF_ERROR(ReadDelayOption(arguments, &options));
  if (!arguments.control.empty()) {
    PROFILER_ASSIGN_OR_RETURN(options.control, target::ParseControl(arguments.control));
  }
  if (arguments.duration) {
    if (!(*arguments.duration > 0))
      return absl::InvalidArgumentError("--duration must be positive");
    options.duration = Milliseconds(*arguments.duration * 1000);
  }
  PROFILER_RETURN_IF_ERROR(CheckStreamOutput(arguments.output));
  options.output = arguments.output;
  PROFILER_RETURN_IF_ERROR(ReadFlight(subcommand, arguments.flight, &options));
  options.cmdline = invocation.cmdline;
  options.version = kVersion;
  return options;
}

}  // namespace profiler::cli
