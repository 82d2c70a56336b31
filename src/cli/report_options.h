// The options that several sub-commands share, read from the command line into the options of the
// views.

#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "src/base/status.h"
#include "src/cli/load_profile.h"
#include "src/profile/symbol_names.h"
#include "src/report/options.h"

namespace profiler::cli {

// --comms, --dsos, --symbols, --pid and --tid as text.
struct FilterText {
  std::string comms, dsos, symbols, pids, tids;
};

void AddFilterOptions(CLI::App& command, FilterText& text);

// --time and -C as text.
struct SampleText {
  std::string time, cpus;
};

void AddSampleOptions(CLI::App& command, SampleText& text);

// Into `load`; kInvalidArgument quotes what is wrong.
absl::Status ReadSampleOptions(const SampleText& text, LoadOptions* load);

// --no-demangle, --fold-templates, --merge-clones and --strip-args.
struct NameOptions {
  bool no_demangle = false;
  profile::NameRules rules;
};

// `names` must outlive the parsing.
void AddNameOptions(CLI::App& command, NameOptions& names);

// kInvalidArgument quotes what is wrong.
absl::StatusOr<report::Filter> ParseFilter(const FilterText& text);

}  // namespace profiler::cli
