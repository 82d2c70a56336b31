// The end of a recording on a terminal: the summary of the recording.

#pragma once

#include "src/base/status.h"
#include "src/cli/recording/record_once.h"
#include "src/cli/recording/record_options.h"
#include "src/record/options.h"

namespace profiler::cli {

// Checks that --summary fits the other options. Returns kInvalidArgument, a line for the user, if
// the recording cannot be read again as one file.
absl::Status CheckSummary(const RecordArguments& arguments, const record::RecordOptions& options);

// Prints the names that only the recorded program could provide, unless --quiet is given.
void PrintMissingNames(const RecordArguments& arguments, const Recorded& recorded);

// Prints the output of `profiler summary` on standard error if --summary is given, or if standard
// error is a terminal and the user has not asked for less. If there are very many samples and
// --summary is not given, prints only a line that names the command. If the file cannot be read
// again, or no summary is wanted, prints only the missing names.
void PrintClosingSummary(const RecordArguments& arguments, const Recorded& recorded);

}  // namespace profiler::cli
