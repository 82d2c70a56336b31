// profiler record

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ringbuf/kernel.h"
#include "src/base/percent.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/command_end.h"
#include "src/cli/compression_option.h"
#include "src/cli/event_arguments.h"
#include "src/cli/naming_arguments.h"
#include "src/cli/naming_monitor.h"
#include "src/cli/option_values.h"
#include "src/cli/output.h"
#include "src/cli/target_arguments.h"
#include "src/cli/version.h"
#include "src/naming/collect_names.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/read/recording.h"
#include "src/perf_event/registers.h"
#include "src/record/session.h"

namespace profiler::cli {
namespace {

constexpr double kNever = -1;

constexpr char kDefaultEvent[] = "cycles";  // cpu-clock where there are no hardware counters

struct RecordArguments {
  std::string frequency;
  uint64_t period = 0;
  CompressionOption compression;
  EventArguments events;
  TargetArguments targets;
  std::string output = "perf.data";
  std::string embed = "lines";
  bool no_cache = false;
  bool call_chains = false;
  std::string call_graph;
  bool post_unwind = false;
  std::string ring_size;
  double delay_ms = 0;
  double duration = kNever;
  bool no_inherit = false;
  record::SampleContents contents;
  std::string user_registers, interrupt_registers;
  bool all_user = false, all_kernel = false;
  bool switch_events = false;
  bool no_bpf_events = false;
  std::string clock = "CLOCK_MONOTONIC";
  bool quiet = false;
  bool verbose = false;
};

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
        absl::StrCat("-F: '", text, "' is no frequency: give samples a second, or max"));
  }
  *frequency = value;
  return absl::OkStatus();
}

// fp, dwarf, dwarf,BYTES, auto or none; -g alone is auto.
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
        "--call-graph: '", text, "' is not known: give fp, dwarf[,BYTES], auto or none"));
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
  options->post_unwind = arguments.post_unwind;
  if (!options->post_unwind || options->call_graph == CallGraph::kDwarf) return absl::OkStatus();
  return absl::InvalidArgumentError("--post-unwind: goes with --call-graph dwarf");
}

std::string RegisterNames(perf_event::Architecture architecture) {
  std::vector<std::string> names;
  for (int bit = 0; bit < 64; ++bit) {
    const std::string_view name = perf_event::RegisterName(architecture, bit);
    if (name != "unknown") names.emplace_back(name);
  }
  return absl::StrJoin(names, " ");
}

// "ax,ip" as bits of a register mask.
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
      return absl::InvalidArgumentError(absl::StrCat(option, ": no register '", name,
                                                     "'; there are ", RegisterNames(architecture)));
    }
    mask |= uint64_t{1} << bit;
  }
  return mask;
}

absl::StatusOr<record::RecordOptions> ReadOptions(const CLI::App& subcommand,
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
  options.events_are_default = arguments.events.events.empty() && !arguments.verbose;
  PROFILER_ASSIGN_OR_RETURN(options.events,
                            FindEventArguments(subcommand, arguments.events, {kDefaultEvent}));
  PROFILER_RETURN_IF_ERROR(ReadCallGraph(arguments, &options));
  options.inherit = !arguments.no_inherit;
  options.contents = arguments.contents;
  PROFILER_ASSIGN_OR_RETURN(options.contents.user_registers,
                            ParseRegisters("--user-regs", arguments.user_registers));
  PROFILER_ASSIGN_OR_RETURN(options.contents.interrupt_registers,
                            ParseRegisters("--intr-regs", arguments.interrupt_registers));
  options.all_user = arguments.all_user;
  options.all_kernel = arguments.all_kernel;
  options.switch_events = arguments.switch_events;
  options.bpf_events = !arguments.no_bpf_events;
  if (!arguments.ring_size.empty()) {
    const size_t page = sysconf(_SC_PAGESIZE);
    PROFILER_ASSIGN_OR_RETURN(const size_t pages, ParseRingPages(arguments.ring_size, page));
    options.ring_bytes = pages * page;
  }
  if (arguments.delay_ms < 0) return absl::InvalidArgumentError("--delay: cannot be negative");
  options.delay = Milliseconds(arguments.delay_ms);
  if (arguments.duration != kNever) {
    if (!(arguments.duration > 0))
      return absl::InvalidArgumentError("--duration: must be positive");
    options.duration = Milliseconds(arguments.duration * 1000);
  }
  PROFILER_RETURN_IF_ERROR(CheckStreamOutput(arguments.output));
  options.output = arguments.output;
  options.cmdline = invocation.cmdline;
  options.version = kVersion;
  return options;
}

// What follows a recording on a terminal.
std::string ProgressOf(const record::RecordProgress& progress) {
  return absl::StrFormat("[ %.0f s  %d samples  %d lost  %.1f MB ]", progress.elapsed.count() / 1e3,
                         progress.samples, progress.lost, progress.bytes / 1e6);
}

void PrintChains(const record::RecordSummary& summary) {
  const ChainQuality& chains = summary.chains;
  std::string line = absl::StrFormat("%.2f %% of %d call chains are whole",
                                     Percent(chains.whole(), chains.chains()), chains.chains());
  const auto add = [&](uint64_t count, const char* what) {
    if (count > 0) absl::StrAppend(&line, ", ", count, " ", what);
  };
  add(chains.joined, "of them joined");
  add(chains.late_read, "of them read late");
  add(chains.guessed, "of them guessed");
  add(chains.cut(), "are cut (`report --chains` tells where)");
  add(chains.no_stack, "more had no user stack (exec or exit)");
  add(summary.hurried_passes, "times the rings were too full to wait for time order");
  PrintNote(line);
}

void PrintSummary(const record::RecordSummary& summary, const std::string& output, bool verbose) {
  const double cpu_ms = (summary.user_time + summary.system_time).count() / 1e3;
  PrintNote(absl::StrFormat(
      "profiler record: %d samples, %d lost, %.2f s, %.3f MB in %s; recording took %.0f ms of CPU",
      summary.samples, summary.lost, summary.duration.count() / 1e9, summary.bytes / 1e6,
      output == "-" ? "standard output" : output, cpu_ms));
  if (summary.lost > 0) {
    PrintNote(absl::StrFormat(
        "the kernel had no room %d times: a larger ring (-m, now %dK a CPU) or a lower frequency "
        "(-F) loses less",
        summary.lost_chunks, summary.ring_bytes / 1024));
  }
  if (summary.chains.chains() > 0) PrintChains(summary);
  if (verbose) {
    PrintNote(absl::StrFormat("%dK of ring a CPU, %d wake-ups, %.0f ms user, %.0f ms system",
                              summary.ring_bytes / 1024, summary.wakeups,
                              summary.user_time.count() / 1e3, summary.system_time.count() / 1e3));
  }
}

naming::NamingOptions NamingOptionsOf(const RecordArguments& arguments) {
  naming::NamingOptions naming;
  naming.places.no_cache = arguments.no_cache;
  naming.files_name = symbolize::FilesName::kOthers;
  return naming;
}

// Looks the recorded addresses up and puts their names behind the recording, which is the file
// `path`, or else the stream that `stream` has seen. What has been recorded is safe by now, so what
// goes wrong here is a warning.
absl::Status EmbedNames(const RecordArguments& arguments, const std::string& path,
                        naming::StreamNames& stream, record::RecordSession& session) {
  const auto began = std::chrono::steady_clock::now();
  LowerPriority();
  naming::CollectedNames collected;
  {
    NamingMonitor monitor(!arguments.quiet && ErrorsAreShownLive());
    if (perf_data::CanBeReadAgain(path)) {
      PROFILER_ASSIGN_OR_RETURN(auto recording, perf_data::Recording::Open(path));
      collected = naming::CollectNames(*recording, naming::EmbeddingOf(arguments.embed),
                                       NamingOptionsOf(arguments), monitor.callback());
    } else {
      collected = std::move(stream).Collect(monitor.callback());
    }
  }
  PROFILER_RETURN_IF_ERROR(collected.reading);
  const std::map<int, std::string> sections = naming::SectionsOf(collected);
  for (const auto& [bit, section] : sections) {
    PROFILER_RETURN_IF_ERROR(session.AppendSection(bit, section));
  }
  if (!arguments.quiet) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    PrintNote(absl::StrFormat("%s; %.2f s", naming::Describe(collected, sections), took.count()));
  }
  return absl::OkStatus();
}

int Record(const RecordArguments& arguments, record::RecordOptions options) {
  LiveLine line;
  if (!arguments.quiet && ErrorsAreShownLive()) {
    options.on_progress = [&line](const record::RecordProgress& progress) {
      line.Show(ProgressOf(progress));
    };
  }
  const std::string output = options.output;
  const bool names_follow = arguments.embed != "none";
  naming::StreamNames stream(naming::EmbeddingOf(arguments.embed), NamingOptionsOf(arguments));
  if (names_follow) options.on_stream = [&stream](auto pieces) { stream.Take(pieces); };
  auto session = record::RecordSession::Create(ringbuf::LinuxKernel(), std::move(options));
  if (!session.ok()) {
    PrintError(session.status());
    return target::CommandFailure(session.status()).value_or(kExitFailure);
  }
  const record::RecordSummary& summary = (*session)->summary();
  size_t printed_notes = 0;
  const auto print_notes = [&] {
    for (; printed_notes < summary.notes.size(); ++printed_notes) {
      if (!arguments.quiet) PrintWarning(summary.notes[printed_notes]);
    }
  };
  print_notes();
  if (!arguments.quiet && !summary.call_graph.empty()) {
    PrintNote("call graph: " + summary.call_graph);
  }
  const absl::Status status = (*session)->Run();
  line.Clear();
  print_notes();
  if (!status.ok()) PrintError(status);
  if (!arguments.quiet) PrintSummary(summary, output, arguments.verbose);
  if (!status.ok()) return target::CommandFailure(status).value_or(kExitFailure);
  const bool has_reader = summary.stop_reason != record::StopReason::kReaderLeft;
  const bool is_readable = stream.has_events() || perf_data::CanBeReadAgain(output);
  if (names_follow && summary.samples > 0 && has_reader && is_readable) {
    const absl::Status embedded = EmbedNames(arguments, output, stream, **session);
    if (!embedded.ok()) {
      PrintWarning(absl::StrCat("names are not in the recording: ", embedded.message()));
    }
  }
  return EndAsTheCommand(summary.command);
}

// What samples have, and which records stand beside them.
void AddContentOptions(CLI::App& command, RecordArguments& a) {
  command.add_flag("-d,--data", a.contents.data_address,
                   "the address of the data, where it is known");
  command.add_flag("--phys-data", a.contents.physical_address, "its physical address as well");
  command.add_flag("-W,--weight", a.contents.weight, "the sample's weight, as its latency");
  command.add_flag("-R,--raw-samples", a.contents.raw,
                   "raw data of all events, not of tracepoints alone");
  command.add_flag("-s,--stat", a.contents.thread_counts, "counts of each thread at its end");
  command.add_option("--user-regs", a.user_registers, "registers of user space")
      ->type_name("REG,…");
  command.add_option("--intr-regs", a.interrupt_registers, "registers where the sample was taken")
      ->type_name("REG,…");
  command.add_flag("--all-user", a.all_user, "user space alone, of events that do not say");
  command.add_flag("--all-kernel", a.all_kernel, "the kernel alone, of events that do not say");
  command.add_flag("--switch-events", a.switch_events, "record context switches");
  command.add_flag("--no-bpf-event", a.no_bpf_events,
                   "do not record that BPF programs come and go");
  command
      .add_option("-k,--clockid", a.clock, "times are those of this clock, the only one for now")
      ->type_name("CLOCK")
      ->check(CLI::IsMember({"CLOCK_MONOTONIC", "monotonic", "mono"}, CLI::ignore_case));
  command.add_flag("-T,--timestamp,--sample-cpu,-N,--no-buildid-cache,-B,--no-buildid,--threads")
      ->description(
          "accepted for perf's sake: samples have time and CPU, no whole files are kept, and one "
          "thread is enough");
}

void AddOptions(CLI::App& command, RecordArguments& a) {
  command.add_option("-F,--freq", a.frequency, "samples a second and thread, or max")
      ->type_name("N|max")
      ->default_str("999");
  command.add_option("-c,--count", a.period, "a sample every so many events, instead of -F")
      ->type_name("PERIOD")
      ->check(CLI::PositiveNumber);
  AddEventOptions(
      command,
      "cpu-clock, page-faults, sched:sched_switch, /bin/ls:main, {a,b}, …: profiler list "
      "shows what there is; :u or :k behind one keeps to user or kernel code (default: "
      "cycles, cpu-clock where there are none)",
      &a.events);
  AddTargetOptions(command, "record", &a.targets);
  command
      .add_option("-o,--output", a.output,
                  "file to write; an older one is kept as FILE.old; - for standard output, as a "
                  "stream that report -i - and perf report -i - read")
      ->type_name("FILE|-")
      ->capture_default_str();
  command
      .add_option(
          "--embed", a.embed,
          "put into the file, once recording has ended, the names of all addresses (names), "
          "inlined calls and source lines as well (lines), and the code of the functions that were "
          "interrupted, for annotate (code); and of many samples the sums that reports are made "
          "of; or none of that; a stream (-o -) has all but the sums")
      ->type_name("code|lines|names|none")
      ->check(CLI::IsMember({"code", "lines", "names", "none"}))
      ->capture_default_str();
  AddCacheOption(command, a.no_cache);
  a.compression.AddTo(command, "compress what is recorded (zstd; level 1 to 22, 1 without one)");
  command.add_flag("-g", a.call_chains, "record call chains: --call-graph auto");
  command
      .add_option("--call-graph", a.call_graph,
                  "fp: the kernel follows frame pointers; dwarf: unwound while recording, of so "
                  "many bytes of stack (65528, or 32768 where memory is dear), without frame "
                  "pointers; auto: dwarf where the "
                  "targets have none; none")
      ->type_name("fp|dwarf[,BYTES]|auto|none");
  command.add_flag("--post-unwind", a.post_unwind,
                   "with dwarf: keep stack bytes in the file, for reports to unwind");
  command.add_option("-m,--mmap-pages", a.ring_size, "ring of each CPU, in pages or as a size")
      ->type_name("PAGES|SIZE");
  command.add_option("-D,--delay", a.delay_ms, "begin to sample so much later")->type_name("MS");
  command.add_option("--duration", a.duration, "stop after so many seconds")->type_name("S");
  command.add_flag("-i,--no-inherit,--per-thread", a.no_inherit,
                   "do not follow new threads and children");
  AddContentOptions(command, a);
  command.add_flag("-q,--quiet", a.quiet, "print errors only");
  command.add_flag("-v,--verbose", a.verbose, "print more about the recording itself");
}

}  // namespace

void AddRecordCommand(CLI::App& app, Commands& commands, Invocation invocation) {
  CLI::App* command = app.add_subcommand("record", "Record where a program spends its time");
  command->footer(
      "Then: a command to record, with its arguments: profiler record -g -- CMD ARGS…\n"
      "Without one, recording goes on until Ctrl-C, --duration or the end of the targets.");
  command->prefix_command();
  auto arguments = std::make_shared<RecordArguments>();
  AddOptions(*command, *arguments);

  commands[command] = [arguments, command, invocation = std::move(invocation)] {
    auto options = ReadOptions(*command, *arguments, invocation);
    if (!options.ok()) {
      PrintError(options.status());
      return kExitUsage;
    }
    return Record(*arguments, *std::move(options));
  };
}

}  // namespace profiler::cli
