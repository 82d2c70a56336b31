// The options that several sub-commands share, read from the command line into the options of the
// views.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/import/format.h"
#include "src/naming/load_profile.h"
#include "src/query/filter.h"
#include "src/query/name_rules.h"
#include "src/usage/command_line.h"

namespace profiler::cli {

// --comms, --dsos, --symbols, --pid and --tid as text.
struct FilterText {
  std::string comms, dsos, symbols, pids, tids;
};

// --time and -C as text.
struct SampleText {
  std::string time, cpus;
};

// --no-demangle, which every view has, and --fold-templates, --merge-clones and --strip-args.
struct NameOptions {
  bool no_demangle = false;
  query::NameRules rules;
};

// All but --no-demangle. `names` must outlive the parsing.
void AddNameRules(usage::Command& command, NameOptions& names);

// What every view of a recording asks for: the recording, its samples, where names come from.
struct ViewArguments {
  std::string input = "perf.data";
  std::optional<import::Format> format;  // of another program's profile
  FilterText filter;
  SampleText samples;
  NameOptions names;
  bool no_inline = false;
  bool fold_native = false;
  naming::FilePlaces places;
  naming::FetchOptions fetch;
};

// Whether the filters have perf's short names (-c, -d and -S), too.
enum class ShortFilters : bool { kNo, kYes };

// -i, the filters, --time, -C, --no-demangle, and where files are looked for. `arguments` must
// outlive the parsing.
void AddViewOptions(usage::Command& command, ViewArguments& arguments,
                    ShortFilters short_filters = ShortFilters::kNo);
// The same without -i, for views of several recordings.
void AddRecordingOptions(usage::Command& command, ViewArguments& arguments,
                         ShortFilters short_filters = ShortFilters::kNo);
// Adds --format: the format of another program's profile. The option is called `name`. `arguments`
// must outlive the parsing.
void AddFormatOption(usage::Command& command, ViewArguments& arguments,
                     const std::string& name = "--format");
// --no-inline.
void AddInlineOption(usage::Command& command, ViewArguments& arguments);
// --fold-native, for views that put stacks together.
void AddFoldOption(usage::Command& command, ViewArguments& arguments);
// --json. `json` must outlive the parsing.
usage::Option AddJsonOption(usage::Command& command, bool& json);
// --event, for views of one event.
void AddEventOption(usage::Command& command, std::string& event);

// What these ask of LoadProfile; threads of one name are one, unless the filter tells them apart.
// kInvalidArgument quotes what is wrong.
absl::StatusOr<naming::LoadOptions> LoadOptionsOf(const ViewArguments& arguments);

}  // namespace profiler::cli
