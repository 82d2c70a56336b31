// The common begin and end of views: opens or loads the recording, and prints errors.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/cli/files/describe_recording.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/load_view.h"
#include "src/importers/format.h"

namespace profiler::cli {

// Calls LoadView; prints its error and returns null if it fails.
std::unique_ptr<const LoadedView> LoadProfileOrPrint(const std::string& path,
                                                     const ViewOptions& options);

// Opens a recording, an answer of a fleet, or another program's profile. `format`, if given, is the
// profile's format. After printing an error, returns null.
std::unique_ptr<perf_data::Recording> OpenRecordingOrPrint(
    const std::string& path, std::optional<importers::Format> format = std::nullopt);

// Opens a recording before it is read, for options that depend on its events. Returns null for a
// pipe, which cannot be read twice, for another program's profile, and after an error.
std::unique_ptr<perf_data::Recording> OpenInAdvance(const std::string& path);

// Prints a warning if files were not used for names because their build differs from the recorded
// one. With `lists_each`, prints a warning for each file.
void PrintRefusedFiles(const profile::Profile& profile, bool lists_each = false);

// Writes only the recording's header. Returns the exit code.
int WriteHeaderAlone(const std::string& path, std::optional<importers::Format> format,
                     HeaderDetail detail = HeaderDetail::kFull);

// Closes the output, and prints warnings and errors of reading and writing. Then says on a terminal
// which file was written, and how to open it. Returns the exit code.
int Finish(const perf_data::Recording& recording, const absl::Status& reading, Output& output);
int Finish(const naming::LoadedProfile& loaded, Output& output, bool lists_refused = false);

}  // namespace profiler::cli
