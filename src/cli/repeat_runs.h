// record --repeat: recordings of several runs of one command, and what they have in common.

#pragma once

#include "src/base/status.h"
#include "src/cli/record_options.h"
#include "src/record/options.h"

namespace profiler::cli {

// kInvalidArgument, a line for the user, where what is recorded cannot be run again or a recording
// has no name for a number to stand behind.
absl::Status CheckRepeat(const record::RecordOptions& options);

// Records the command arguments.repeat times, into OUTPUT.1, OUTPUT.2 …, and prints the mean share
// of each function over those that ran to their end. A command that fails is run again; Ctrl-C,
// `stop` of --control and a recording that cannot be made end it. The exit code is that of the last
// recording (ExitCodeOf).
int RecordRepeatedly(const RecordArguments& arguments, const record::RecordOptions& options);

}  // namespace profiler::cli
