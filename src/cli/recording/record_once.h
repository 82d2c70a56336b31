// Makes one recording for `record`: records samples, prints messages, and adds names.

#pragma once

#include <set>
#include <string>

#include "src/base/status.h"
#include "src/cli/recording/record_options.h"
#include "src/record/options.h"

namespace profiler::cli {

// The outcome of a recording. Its messages have been printed.
struct Recorded {
  absl::Status status;            // outcome of recording; missing names cause only a warning
  record::RecordSummary summary;  // after an error, the state when it occurred
  // True if the last file has all names. False if no names were wanted.
  bool has_all_names = false;
  // A line for the user about names that only the recorded program can provide. It says which names
  // are missing, and how to make the program provide them. May be empty. The closing summary prints
  // the line.
  std::string missing_names;
};

// Lines for the user that apply to several recordings and are printed only for the first one.
using Said = std::set<std::string>;

Recorded RecordOnce(const RecordArguments& arguments, record::RecordOptions options, Said& said);

// Returns the exit code of the command or, after an error, of the error. If a signal ended the
// command, ends this process with the same signal (command_end.h).
int ExitCodeOf(const Recorded& recorded);

}  // namespace profiler::cli
