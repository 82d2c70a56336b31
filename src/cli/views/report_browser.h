// Shows a report on the screen of the terminal.

#pragma once

#include "src/base/status.h"
#include "src/cli/views/load_view.h"
#include "src/cli/views/report_arguments.h"
#include "src/views/report/options.h"

namespace profiler::cli {

// True if the report is shown on a screen: standard input and output are a terminal that can show
// one, and no option or environment variable asks for plain text. Prints a warning if --tui asks
// for a screen that is not possible here.
bool OpensBrowser(const ReportArguments& arguments);

// True if the browser can show the recording: it has no branch stacks, and at least one sample.
bool CanBrowse(const profile::Profile& profile, const report::ReportOptions& options);

// Runs the browser until the user quits. `loaded` must have names, and `load` are its options.
// Errors: those of terminal::OpenScreen.
absl::Status BrowseReport(const ReportArguments& arguments, const ViewOptions& load,
                          const LoadedView& loaded, const report::ReportOptions& options);

}  // namespace profiler::cli
