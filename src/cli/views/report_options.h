// Options that several sub-commands share, and their conversion to options of loading.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/analysis/filter.h"
#include "src/analysis/name_rules.h"
#include "src/base/status.h"
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

// Options of every view of a recording: the recording, its samples, and the sources of names.
struct ViewArguments {
  std::string input = "perf.data";
  std::optional<importers::Format> format;  // of another program's profile
  FilterText filter;
  SampleText samples;
  NameOptions names;
  bool no_inline = false;
  bool fold_native = false;
  naming::FilePlaces places;
  naming::FetchOptions fetch;
};

// kYes adds perf's short names of the filters: -c, -d and -S.
enum class ShortFilters : bool { kNo, kYes };

// Adds -i, the filters, --time, -C, --no-demangle, and the sources of names. `arguments` must
// outlive the parsing.
void AddViewOptions(usage::Command& command, ViewArguments& arguments,
                    ShortFilters short_filters = ShortFilters::kNo);
// Like AddViewOptions without -i, for views of several recordings.
void AddRecordingOptions(usage::Command& command, ViewArguments& arguments,
                         ShortFilters short_filters = ShortFilters::kNo);
// Adds --format, for the format of another program's profile, under the name `name`. `arguments`
// must outlive the parsing.
void AddFormatOption(usage::Command& command, ViewArguments& arguments,
                     const std::string& name = "--format");
// Adds --no-inline.
void AddInlineOption(usage::Command& command, ViewArguments& arguments);
// Adds --fold-native, for views that merge stacks.
void AddFoldOption(usage::Command& command, ViewArguments& arguments);
// Adds --json. `json` must outlive the parsing.
usage::Option AddJsonOption(usage::Command& command, bool& json);
// Adds --event, for views of one event.
void AddEventOption(usage::Command& command, std::string& event);

// Converts the values to options of LoadView. Threads of equal names are merged, unless the
// filter must distinguish them. kInvalidArgument quotes the malformed text.
absl::StatusOr<ViewOptions> LoadOptionsOf(const ViewArguments& arguments);

}  // namespace profiler::cli
