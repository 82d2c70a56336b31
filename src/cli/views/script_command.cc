// profiler script

#include <memory>
#include <span>
#include <string>

#include "src/cli/command.h"
#include "src/cli/files/describe_recording.h"
#include "src/cli/files/dump_command.h"
#include "src/cli/option_values.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/event_dumps.h"
#include "src/cli/views/report_options.h"
#include "src/cli/views/tracepoint_texts.h"
#include "src/cli/views/view.h"
#include "src/format/perf_data/read/recording.h"
#include "src/machine/procfs/machine.h"
#include "src/profile/naming/fetch_files.h"
#include "src/views/script/script_printer.h"

namespace profiler::cli {
namespace {

struct ScriptArguments {
  ViewArguments view;
  std::vector<std::string> fields;
  script::ShownRecords records;
  uint32_t max_stack = 127;
  bool hide_call_graph = false;
  bool nanoseconds = false;
  bool relative_times = false;
  bool time_differences = false;
  bool header = false;
  bool header_only = false;
  bool full_header = false;
  bool verbose = false;
  bool per_event_dump = false;
  bool full_source_paths = false;
  bool dump = false;
};

absl::StatusOr<script::ScriptPlan> ReadPlan(const ScriptArguments& arguments,
                                            const ViewOptions& load) {
  script::ScriptPlan plan;
  std::string fields;
  for (const std::string& given : arguments.fields) fields += given + ",";
  if (!fields.empty()) {
    PROFILER_ASSIGN_OR_RETURN(plan.fields, script::ParseScriptFields(fields));
  }
  plan.options.filter = load.plan.filter;
  plan.event = arguments.view.event;
  plan.options.max_stack = arguments.max_stack;
  plan.options.callchains = !arguments.hide_call_graph;
  plan.options.nanoseconds = arguments.nanoseconds;
  if (arguments.relative_times) plan.options.times_from = script::TimeOrigin::kFirst;
  if (arguments.time_differences) plan.options.times_from = script::TimeOrigin::kPrevious;
  plan.options.inlines = !arguments.view.no_inline;
  plan.options.full_source_paths = arguments.full_source_paths;
  plan.naming = load.naming;
  plan.naming.inlines =
      plan.options.inlines || plan.fields.fields.has(script::ScriptField::kSrcline);
  plan.records = arguments.records;
  // prints [unknown] like perf, because other programs parse it
  plan.naming.function_starts = false;
  return plan;
}

HeaderDetail DetailOf(const ScriptArguments& arguments) {
  return arguments.full_header ? HeaderDetail::kFull : HeaderDetail::kMachineInBrief;
}

int PrintScript(const ScriptArguments& arguments, const naming::LoadOptions& load,
                perf_data::Recording& recording, script::ScriptPlan plan) {
  TracepointTexts tracepoints(recording);
  plan.describe_tracepoints =
      [&](std::span<const script::TracepointRecord> records, const script::FunctionName& name,
          std::vector<std::string>* texts) { tracepoints.Describe(records, name, texts); };
  EventDumps dumps(arguments.view.input);
  const auto name_of = [&](profile::EventId event) -> const std::string& {
    return recording.events()[static_cast<size_t>(event)].name;
  };
  const auto open_dumps = [&] {
    for (const perf_data::EventDescription& event : recording.events()) dumps.Open(event.name);
  };
  if (arguments.per_event_dump) {
    open_dumps();
    plan.write_sample = [&](profile::EventId event, std::string_view text) {
      dumps.Write(name_of(event), text);
    };
  }
  Output output(arguments.view.output, Lines::kFitted);
  if (arguments.header) {
    output.Write(report::FormatRecordingHeader(
        DescribeRecording(arguments.view.input, recording, DetailOf(arguments))));
  }
  script::ScriptPrinter printer(recording, plan,
                                [&](std::string_view text) { output.Write(text); });
  if (arguments.verbose) {
    for (const std::string& line : printer.SkippedFields()) PrintNote(line);
  }
  absl::Status status = printer.Print();
  if (arguments.per_event_dump && !absl::IsInvalidArgument(status)) {
    open_dumps();  // for events that come later in a stream
    status.Update(dumps.Close(output));
  }
  for (const std::string& line : printer.warnings()) PrintWarning(line);
  if (!printer.any_selected()) {
    if (const auto reason = WhyNoneIsChosen(load, recording)) PrintWarning(*reason);
  }
  return Finish(recording, status, output);
}

int WriteScript(const ScriptArguments& arguments) {
  if (const absl::Status refused = CheckViewOutput(arguments.view.output, arguments.view.input);
      !refused.ok()) {
    PrintError(refused);
    return kExitUsage;
  }
  if (arguments.dump) return DumpRecordingAsPerf(arguments.view.input, arguments.view.format);
  if (arguments.header_only)
    return WriteHeaderAlone(arguments.view.input, arguments.view.format, DetailOf(arguments));
  const auto load = LoadOptionsOf(arguments.view);
  if (!load.ok()) {
    PrintError(load.status());
    return kExitUsage;
  }
  auto plan = ReadPlan(arguments, *load);
  if (!plan.ok()) {
    PrintError(plan.status());
    return kExitUsage;
  }
  const auto recording = OpenRecordingOrPrint(arguments.view.input, arguments.view.format);
  if (recording == nullptr) return kExitFailure;
  auto samples = naming::SelectionOf(*recording, *load);
  if (!samples.ok()) {
    PrintError(samples.status());
    return kExitFailure;
  }
  plan->samples = *std::move(samples);
  // Missing files are fetched now, because names are printed while the recording is read.
  naming::FetchFilesOfRecording(plan->naming, arguments.view.input);
  return PrintScript(arguments, *load, *recording, *std::move(plan));
}

void AddRecordOptions(usage::Command& command, script::ShownRecords& records) {
  command.AddFlag("--show-task-events", records.tasks, "show COMM, FORK and EXIT records");
  command.AddFlag("--show-mmap-events", records.mappings, "show MMAP and MMAP2 records");
  command.AddFlag("--show-switch-events", records.switches, "show context switches");
  command.AddFlag("--show-lost-events", records.lost, "show LOST records");
  command.AddFlag("--show-namespace-events", records.namespaces, "show NAMESPACES records");
  command.AddFlag("--show-cgroup-events", records.cgroups, "show CGROUP records");
  command.AddFlag("--show-bpf-events", records.bpf, "show KSYMBOL and BPF_EVENT records");
}

void AddTimeOptions(usage::Command& command, ScriptArguments& arguments) {
  command.AddFlag("--ns", arguments.nanoseconds, "show times in nanoseconds");
  const usage::Option relative =
      command.AddFlag("--reltime", arguments.relative_times, "show times since the first sample");
  command.AddFlag("--deltatime", arguments.time_differences, "show times since the previous sample")
      .Excludes(relative);
}

}  // namespace

void AddScriptCommand(usage::Command& app, Commands& commands) {
  usage::Command& command =
      app.AddCommand("script", "Print every sample, in the layout of perf script");
  auto arguments = std::make_shared<ScriptArguments>();
  ScriptArguments& a = *arguments;
  AddViewOptions(command, a.view, {.events = ShownEvents::kAll, .has_jobs = false});
  command
      .AddOption("-F,--fields", a.fields,
                 "fields to show: "
                 "comm,pid,tid,time,cpu,event,period,ip,sym,symoff,dso,dsoff,addr,misc,flags,data_"
                 "src,weight,ins_lat,retire_lat,cgroup,iregs,uregs,brstack,brstacksym,brstackoff,"
                 "phys_addr,data_page_size,code_page_size,srcline,trace,callindent,insn,insnlen; "
                 "+FIELD and -FIELD change the default")
      .ValueName("FIELD,…")
      .OneValueEach();
  AddRecordOptions(command, a.records);
  command.AddFlag("-D,--dump-raw-trace", a.dump,
                  "print every record in perf's layout; profiler dump names all fields");
  command.AddOption("--max-stack", a.max_stack, "show at most this many frames of a call chain")
      .ShowDefault();
  command.AddFlag("-G,--hide-call-graph", a.hide_call_graph,
                  "show only the address of a sample, not its call chain");
  AddTimeOptions(command, a);
  AddInlineOption(command, a.view);
  command.AddFlag("--full-source-path", a.full_source_paths,
                  "with srcline: show whole paths of source files");
  command.AddFlag("--header", a.header, "show the recording's header first");
  command.AddFlag("--header-only", a.header_only, "show only the recording's header");
  command.AddFlag("-I,--show-info", a.full_header,
                  "with a header: also show the machine's topology and caches");
  command.AddFlag("--per-event-dump", a.per_event_dump,
                  "write the samples of each event to RECORDING.EVENT.dump");
  command.AddFlag("-v,--verbose", a.verbose, "report fields that no sample has");
  command
      .AddOption("--max-blocks", "accepted and ignored: it limits brstackinsn, which is not shown")
      .ValueName("N");
  command.AddFlag(
      "-f,--force",
      "accepted and ignored: recordings of other users are always read if permissions allow it");
  commands[&command] = RunView(command, a.view, [arguments] { return WriteScript(*arguments); });
}

}  // namespace profiler::cli
