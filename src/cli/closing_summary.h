// How a recording ends on a terminal: with the summary of what was recorded.

#pragma once

#include "src/base/status.h"
#include "src/cli/record_once.h"
#include "src/cli/record_options.h"
#include "src/record/options.h"

namespace profiler::cli {

// kInvalidArgument, a line for the user, where --summary asks for that of a recording which cannot
// be read again as one.
absl::Status CheckSummary(const RecordArguments& arguments, const record::RecordOptions& options);

// Prints which names the program would have to give, unless --quiet is given.
void PrintMissingNames(const RecordArguments& arguments, const Recorded& recorded);

// Prints what `profiler summary` says of the file that was recorded, on standard error, where
// --summary asks for it, or else where a person looks on who has not asked for less. Of very many
// samples only --summary reads all again; else a line says what would. Where the file cannot be
// read again, or there is to be no summary, the names that are missing alone.
void PrintClosingSummary(const RecordArguments& arguments, const Recorded& recorded);

}  // namespace profiler::cli
