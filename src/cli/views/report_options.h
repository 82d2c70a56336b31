// Options that several sub-commands share, and their conversion to options of loading.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/filter.h"
#include "src/analysis/name_rules.h"
#include "src/base/status.h"
#include "src/cli/command.h"
#include "src/cli/usage/command_line.h"
#include "src/cli/views/load_view.h"
#include "src/importers/format.h"
#include "src/profile/naming/load_profile.h"

namespace profiler::cli {

// The values of --comms, --dsos, --symbols, --pid and --tid.
struct FilterText {
  std::string comms, images, symbols, pids, tids;
};

// The values of --time and -C.
struct SampleText {
  std::string time, cpus;
};

// The values of --no-demangle (every view has this option), --fold-templates, --merge-clones and
// --strip-args.
struct NameOptions {
  bool no_demangle = false;
  analysis::NameRules rules;
};

// Adds the options of NameOptions except --no-demangle. `names` must outlive the parsing.
void AddNameRules(usage::Command& command, NameOptions& names);

// Options of every view of a recording: the recording, its samples, the sources of names, and the
// file to write.
struct ViewArguments {
  std::string input = "perf.data";
  std::vector<std::string> words;           // as typed: the recording, and perhaps a symbol
  std::optional<importers::Format> format;  // of another program's profile
  std::string event;                        // empty: the view chooses, or shows all
  FilterText filter;
  SampleText samples;
  NameOptions names;
  bool no_inline = false;
  bool fold_native = false;
  naming::FilePlaces places;
  naming::FetchOptions fetch;
  uint32_t jobs = 0;  // as LoadOptions::threads
  std::string output = "-";
};

// Names of the filters besides --comms, --dsos, --symbols, --pid, --tid, --time and --cpu.
enum class FilterNames : uint8_t {
  kLongOnly,  // none: the command has other options of those names
  kSingular,  // --comm, --dso and --symbol
  kAll,       // also -c, -d and -S
};

// Events that a view shows by default.
enum class ShownEvents : uint8_t { kOne, kAll };

// The differences between views.
struct OfferedOptions {
  FilterNames filters = FilterNames::kAll;
  ShownEvents events = ShownEvents::kOne;
  // Description of -o; null: the view has no -o.
  const char* output = "file to write; - for standard output";
  bool needs_output = false;  // True: -o must be given, and has no default.
  // Name of the option for the format of another program's profile.
  const char* format = "--format";
  // Description of the argument; null: the view takes -i and no argument.
  const char* argument = "recording, or a profile of another program (default: -i)";
  bool has_input = true;  // False: the view takes several recordings and has its own arguments.
  bool has_jobs = true;   // False: the view prints samples as they come, which takes one thread.
};

// Adds the recording (-i, and as the argument), --format, --event, the filters, --time, -C,
// --no-demangle, the sources of names, --jobs, and -o. `arguments` must outlive the parsing.
void AddViewOptions(usage::Command& command, ViewArguments& arguments,
                    const OfferedOptions& options = {});

// Returns the function that runs a view: it sets ViewArguments::input to the recording among the
// arguments, and calls `run`. A word that is no recording goes to `symbol`, as in perf; null: every
// word is a recording. Prints an error if there are several recordings.
RunCommand RunView(const usage::Command& command, ViewArguments& arguments,
                   std::function<int()> run, std::string* symbol = nullptr);

// Adds the filters by name: --comms, --dsos and --symbols, with further names as `names` says.
// `text` must outlive the parsing.
void AddNameFilters(usage::Command& command, FilterNames names, FilterText& text);
// Adds --kallsyms and --vmlinux. `places` must outlive the parsing.
void AddKernelOptions(usage::Command& command, naming::FilePlaces& places);
// Adds --no-inline.
void AddInlineOption(usage::Command& command, ViewArguments& arguments);
// Adds --fold-native, for views that merge stacks.
void AddFoldOption(usage::Command& command, ViewArguments& arguments);
// Adds --json. `json` must outlive the parsing.
usage::Option AddJsonOption(usage::Command& command, bool& json);

// Returns the event and the filters as options of a command line, for commands that a message
// suggests.
std::string SelectionOf(const ViewArguments& view);

// Converts the values to options of LoadView. Threads of equal names are merged, unless the
// filter must distinguish them. kInvalidArgument quotes the malformed text, or says why the kernel's
// symbols cannot come from the file of --kallsyms.
absl::StatusOr<ViewOptions> LoadOptionsOf(const ViewArguments& arguments);

}  // namespace profiler::cli
