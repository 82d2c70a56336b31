// record --repeat: records several runs of one command, and compares them.

#pragma once

#include "src/base/status.h"
#include "src/cli/recording/record_options.h"
#include "src/record/options.h"

namespace profiler::cli {

// Returns kInvalidArgument, a line for the user, if the target cannot be run again, or if the
// output has no name to which a number can be added.
absl::Status CheckRepeat(const record::RecordOptions& options);

// Records the command arguments.repeat times, to OUTPUT.1, OUTPUT.2, …, and prints the mean share
// of each function over the completed runs. A command that fails does not end the repetition.
// Ctrl-C, `stop` on --control, and an error of recording end it. Returns the exit code of the last
// recording (ExitCodeOf).
int RecordRepeatedly(const RecordArguments& arguments, const record::RecordOptions& options);

}  // namespace profiler::cli
