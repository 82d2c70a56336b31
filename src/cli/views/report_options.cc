#include "src/cli/views/report_options.h"

#include <sys/stat.h>

#include <fstream>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/cli/fleet/fleet_recording.h"
#include "src/cli/option_values.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/naming_arguments.h"
#include "src/format/perf_data/read/recording.h"
#include "src/importers/format.h"
#include "src/importers/import.h"
#include "src/importers/open_recording.h"
#include "src/machine/procfs/machine.h"
#include "src/views/summary/summary.h"
#include "symbolize/symbols/kernel_symbols.h"

namespace profiler::cli {
namespace {

absl::Status ReadIds(const std::string& text, std::vector<uint32_t>* ids) {
  if (text.empty()) return absl::OkStatus();
  PROFILER_ASSIGN_OR_RETURN(const std::vector<int> numbers, ParseIdList(text));
  ids->assign(numbers.begin(), numbers.end());
  return absl::OkStatus();
}

// Parses the filter. kInvalidArgument quotes the malformed text.
absl::StatusOr<analysis::Filter> ParseFilter(const FilterText& text) {
  analysis::Filter filter;
  filter.comms = SplitList(text.comms);
  filter.images = SplitList(text.images);
  filter.symbols = SplitList(text.symbols);
  PROFILER_RETURN_IF_ERROR(ReadIds(text.pids, &filter.pids));
  PROFILER_RETURN_IF_ERROR(ReadIds(text.tids, &filter.tids));
  return filter;
}

void AddSampleOptions(usage::Command& command, SampleText& text) {
  command
      .AddOption(
          "--time", text.time,
          "only samples from START to STOP in seconds; either may be missing; or in percent: "
          "10%-20%, or 10%/2 for the second tenth; several: 10%/1,10%/3 or \"1,2 4,5\"")
      .ValueName("START,STOP");
  command.AddOption("-C,--cpu", text.cpus, "only samples on these CPUs").ValueName("CPU,…");
}

// Sets times and CPUs in `load`. kInvalidArgument quotes the malformed text.
absl::Status ReadSampleOptions(const SampleText& text, naming::LoadOptions* load) {
  if (!text.time.empty()) {
    PROFILER_ASSIGN_OR_RETURN(load->times, ParseTimeRanges(text.time));
  }
  if (!text.cpus.empty()) {
    PROFILER_ASSIGN_OR_RETURN(const std::vector<int> cpus, procfs::ParseCpuList(text.cpus));
    load->cpus.assign(cpus.begin(), cpus.end());
  }
  return absl::OkStatus();
}

void AddFormatOption(usage::Command& command, ViewArguments& arguments, const char* name) {
  command
      .AddOption(
          name,
          [&arguments](const std::string& value) -> absl::Status {
            arguments.format = importers::FormatNamed(value);
            if (!arguments.format) {
              return absl::InvalidArgumentError(
                  absl::StrCat("no format '", value, "': use ", importers::FormatNames()));
            }
            return absl::OkStatus();
          },
          absl::StrCat(
              "format of a profile of another program (default: detected from its contents): ",
              importers::FormatNames()))
      .ValueName("NAME");
}

void AddEventOption(usage::Command& command, ShownEvents shown, std::string& event) {
  command
      .AddOption(
          "--event", event,
          shown == ShownEvents::kAll
              ? "show only this event (default: all); NAME#2 is the second event of that name"
              : "event to show (default: the first with samples); NAME#2 is the second event of "
                "that name")
      .ValueName("NAME");
}

}  // namespace

void AddNameFilters(usage::Command& command, FilterNames names, FilterText& text) {
  const auto add = [&](const char* letter, const char* plural, const char* singular,
                       std::string& value, const char* description) {
    std::string all = plural;
    if (names == FilterNames::kAll) all = absl::StrCat(letter, ",", plural);
    if (names != FilterNames::kLongOnly) absl::StrAppend(&all, ",", singular);
    command.AddOption(all, value, description).ValueName("NAME,…");
  };
  add("-c", "--comms", "--comm", text.comms, "show only these commands");
  add("-d", "--dsos", "--dso", text.images, "show only these images (DSOs)");
  add("-S", "--symbols", "--symbol", text.symbols, "show only these symbols");
}

void AddKernelOptions(usage::Command& command, naming::FilePlaces& places) {
  command
      .AddOption("--kallsyms", places.kallsyms, "read the recorded kernel's symbols from this file")
      .ExistingFile()
      .ValueName("FILE");
  command
      .AddOption("-k,--vmlinux", places.vmlinux,
                 "read the recorded kernel's source lines, and missing symbols, from this file")
      .ExistingFile()
      .ValueName("FILE");
}

namespace {

// Checks --kallsyms: a file without symbols would silently leave the kernel without names.
absl::Status CheckKallsyms(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  constexpr std::string_view kRemedy =
      "give a copy of /proc/kallsyms that root made on the recorded machine";
  const auto refused = [&](std::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("--kallsyms: ", path, View(why), ": ", View(kRemedy)));
  };
  const auto kernel = symbolize::KernelSymbols::Read(path);
  if (!kernel.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--kallsyms: ", kernel.status().message()));
  }
  if (kernel->restricted()) return refused(" hides all addresses (kernel.kptr_restrict)");
  if (kernel->table().symbols().empty()) return refused(" has no kernel symbols");
  return absl::OkStatus();
}

// Checks --vmlinux. A file of another build is found out by its build-id later.
absl::Status CheckVmlinux(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  file.read(magic, sizeof(magic));
  if (file && std::string_view(magic, sizeof(magic)) == "\177ELF") return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--vmlinux: ", path, " is not an ELF file; give the vmlinux of the recorded kernel"));
}

// True if a file begins like a profile of another program.
bool BeginsAsProfile(const std::string& path) {
  constexpr size_t kLooked = 1 << 16;
  std::ifstream file(path, std::ios::binary);
  std::string start(kLooked, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<size_t>(file.gcount()));
  return importers::RecognizeFile(start).has_value();
}

// True if a word names a recording or a profile of another program, and not a symbol.
bool IsRecording(const std::string& word, const std::optional<importers::Format>& format) {
  const importers::OpenOptions open = OpenOptionsFor(format);
  if (word == "-" || (open.source != nullptr && open.source->IsQuestion(word))) return true;
  struct stat status;
  if (stat(word.c_str(), &status) != 0) return word.ends_with(".data");
  // A program often has the name of one of its functions, so the content decides.
  if (!S_ISREG(status.st_mode) || perf_data::BeginsAsRecording(word)) return true;
  return format.has_value() || BeginsAsProfile(word);
}

absl::Status SettleArguments(const usage::Command& command, ViewArguments& arguments,
                             std::string* symbol) {
  std::vector<std::string> recordings;
  if (command.Count("--input") > 0) recordings.push_back(arguments.input);
  for (const std::string& word : arguments.words) {
    if (symbol == nullptr || IsRecording(word, arguments.format)) {
      recordings.push_back(word);
    } else if (symbol->empty()) {
      *symbol = word;
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", word, "' is not a recording, and a symbol is already given: ", *symbol));
    }
  }
  if (recordings.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("give one recording instead of ", recordings[0],
                                                   " and ", recordings[1],
                                                   "; use profiler diff to compare two"));
  }
  if (!recordings.empty()) arguments.input = recordings.front();
  return absl::OkStatus();
}

}  // namespace

void AddNameRules(usage::Command& command, NameOptions& names) {
  command
      .AddOption(
          "--fold-templates",
          [&names](const std::string& levels) -> absl::Status {
            uint32_t kept = 0;
            if (!levels.empty() && !absl::SimpleAtoi(levels, &kept)) {
              return absl::InvalidArgumentError("not a number: '" + levels + "'");
            }
            names.rules.fold_templates = kept;
            return absl::OkStatus();
          },
          "show template arguments as <...>, except the outer N levels")
      .ValueName("N")
      .ValueMayBeMissing();
  command.AddFlag("--merge-clones", names.rules.merge_clones,
                  "count clones such as .isra, .part, .constprop and .cold with their function");
  command.AddFlag("--strip-args", names.rules.strip_args,
                  "show functions without parameters and return type; this merges overloads");
}

void AddViewOptions(usage::Command& command, ViewArguments& arguments,
                    const OfferedOptions& options) {
  if (options.has_input) {
    if (options.argument != nullptr) command.AddOption("FILE", arguments.words, options.argument);
    command.AddOption("-i,--input", arguments.input, "recording; - for standard input")
        .ShowDefault();
  }
  AddFormatOption(command, arguments, options.format);
  AddEventOption(command, options.events, arguments.event);
  AddNameFilters(command, options.filters, arguments.filter);
  command.AddOption("--pid", arguments.filter.pids, "only these processes").ValueName("PID,…");
  command.AddOption("--tid", arguments.filter.tids, "only these threads").ValueName("TID,…");
  AddSampleOptions(command, arguments.samples);
  command.AddFlag("--no-demangle", arguments.names.no_demangle,
                  "show mangled symbols, as the linker has them");
  AddFilePlaceOptions(command, arguments.places);
  AddKernelOptions(command, arguments.places);
  AddFetchOptions(command, arguments.fetch);
  if (options.has_jobs) {
    command
        .AddOption("--jobs", arguments.jobs,
                   "read the recording with at most this many threads (default: one for each CPU, "
                   "at most 16; one if the recording is small)")
        .InRange(uint32_t{1}, uint32_t{256}, usage::InHelp::kNo)
        .ValueName("N");
  }
  if (options.output == nullptr) return;
  const usage::Option output = command.AddOption("-o,--output", arguments.output, options.output);
  options.needs_output ? output.ValueName("FILE|-").Required() : output.ShowDefault();
}

RunCommand RunView(const usage::Command& command, ViewArguments& arguments,
                   std::function<int()> run, std::string* symbol) {
  return [&command, &arguments, run = std::move(run), symbol] {
    if (const absl::Status wrong = SettleArguments(command, arguments, symbol); !wrong.ok()) {
      PrintError(wrong);
      return kExitUsage;
    }
    return run();
  };
}

void AddInlineOption(usage::Command& command, ViewArguments& arguments) {
  command.AddFlag("--no-inline", arguments.no_inline, "do not show inlined functions");
}

void AddFoldOption(usage::Command& command, ViewArguments& arguments) {
  command.AddFlag("--fold-native", arguments.fold_native,
                  "leave out frames of the interpreter (node, python, java, …) around functions of "
                  "its language, which get their weight");
}

usage::Option AddJsonOption(usage::Command& command, bool& json) {
  return command.AddFlag("--json", json, "print JSON (docs/json.md)");
}

std::string SelectionOf(const ViewArguments& view) {
  std::string options;
  const auto add = [&options](std::string_view option, const std::string& value) {
    if (value.empty()) return;
    absl::StrAppend(&options, options.empty() ? "" : " ", View(option), " ",
                    summary::ShellWord(value));
  };
  add("--event", view.event);
  add("--comms", view.filter.comms);
  add("--dsos", view.filter.images);
  add("--symbols", view.filter.symbols);
  add("--pid", view.filter.pids);
  add("--tid", view.filter.tids);
  add("--time", view.samples.time);
  add("--cpu", view.samples.cpus);
  return options;
}

absl::StatusOr<ViewOptions> LoadOptionsOf(const ViewArguments& arguments) {
  ViewOptions load;
  load.open = OpenOptionsFor(arguments.format);
  PROFILER_RETURN_IF_ERROR(CheckKallsyms(arguments.places.kallsyms));
  PROFILER_RETURN_IF_ERROR(CheckVmlinux(arguments.places.vmlinux));
  PROFILER_ASSIGN_OR_RETURN(load.plan.filter, ParseFilter(arguments.filter));
  PROFILER_RETURN_IF_ERROR(ReadSampleOptions(arguments.samples, &load));
  load.keep_thread = load.plan.filter.NeedsThreads();
  load.plan.names = arguments.names.rules;
  load.plan.fold_native = arguments.fold_native;
  load.threads = arguments.jobs;
  load.naming.inlines = !arguments.no_inline;
  load.naming.demangle = !arguments.names.no_demangle;
  load.naming.places = arguments.places;
  load.naming.fetch = arguments.fetch;
  load.naming.warn = PrintWarning;
  return load;
}

}  // namespace profiler::cli
