// One recording as `record` makes it: recorded, told of on standard error, and named.

#pragma once

#include <set>
#include <string>

#include "src/base/status.h"
#include "src/cli/record_options.h"
#include "src/record/options.h"

namespace profiler::cli {

// What came of it, which has been printed.
struct Recorded {
  absl::Status status;            // of recording; names that are missing are a warning alone
  record::RecordSummary summary;  // after an error, what there is
  bool has_all_names = false;     // in its last file; false also where none were asked for
  // Those that the program would have to give, and how, in a line that has not been printed: the
  // closing summary says the same. Empty: none.
  std::string missing_names;
};

// Lines for the user that hold for several recordings and are said of the first one.
using Said = std::set<std::string>;

Recorded RecordOnce(const RecordArguments& arguments, record::RecordOptions options, Said& said);

// The exit code that follows: the command's, whose signal becomes ours (command_end.h), or that of
// the error.
int ExitCodeOf(const Recorded& recorded);

}  // namespace profiler::cli
