// Makes one recording for `record`: records, prints messages, and names.

#pragma once

#include <set>
#include <string>

#include "src/base/status.h"
#include "src/cli/recording/record_options.h"
#include "src/record/options.h"

namespace profiler::cli {

// The outcome, which has been printed.
struct Recorded {
  absl::Status status;            // of recording; missing names cause only a warning
  record::RecordSummary summary;  // after an error, its state at that time
  bool has_all_names = false;     // of the last file; also false if no names were wanted
  // Names that the program would have to provide, and how; may be empty. The line is not printed
  // yet, because the closing summary contains it.
  std::string missing_names;
};

// Lines for the user that apply to several recordings and are printed only for the first one.
using Said = std::set<std::string>;

Recorded RecordOnce(const RecordArguments& arguments, record::RecordOptions options, Said& said);

// Returns the exit code: the command's, or that of the error. If a signal ended the command, dies
// of it (command_end.h).
int ExitCodeOf(const Recorded& recorded);

}  // namespace profiler::cli
