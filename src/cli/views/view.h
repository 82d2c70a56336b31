// The common begin and end of views: opens or loads the recording, and prints errors.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/cli/files/describe_recording.h"
#include "src/cli/terminal/output.h"
#include "src/importers/format.h"
#include "src/profile/naming/load_profile.h"

namespace profiler::cli {

// Calls naming::LoadProfile; prints its error and returns nothing if it fails.
std::optional<naming::LoadedProfile> LoadProfileOrPrint(const std::string& path,
                                                        const naming::LoadOptions& options);

// Opens a recording, an answer of a fleet, or another program's profile. `format`, if given, is the
// profile's format. After printing an error, returns null.
std::unique_ptr<perf_data::Recording> OpenRecordingOrPrint(
    const std::string& path, std::optional<importers::Format> format = std::nullopt);

// Prints a warning if files were not used for names because their build differs from the recorded
// one. With `lists_each`, prints a warning for each file.
void PrintRefusedFiles(const profile::Profile& profile, bool lists_each = false);

// Drops the rows that do not pass the filter of `load`. If the filter, --time or -C leaves no
// sample, returns the reason, together with the values that occur in the samples.
std::optional<std::string> KeepFiltered(const naming::LoadOptions& load,
                                        naming::LoadedProfile& loaded);
// Returns the reason that KeepFiltered would return, but drops no rows.
std::optional<std::string> WhyNothingIsLeft(const naming::LoadOptions& load,
                                            const naming::LoadedProfile& loaded);

// Keeps the rows of the events with that name; "": of all. kNotFound lists the recording's events.
absl::Status KeepEvent(const std::string& name, profile::Profile& profile);

// Returns the reason if --time or -C selects no sample of the recording. Returns nothing if neither
// option is given.
std::optional<std::string> WhyNoneIsChosen(const naming::LoadOptions& load,
                                           const perf_data::Recording& recording);

// Writes only the recording's header. Returns the exit code.
int WriteHeaderAlone(const std::string& path, std::optional<importers::Format> format,
                     HeaderDetail detail = HeaderDetail::kFull);

// Closes the output, and prints warnings and errors of reading and writing. Returns the exit code.
int Finish(const perf_data::Recording& recording, const absl::Status& reading, Output& output);
int Finish(const naming::LoadedProfile& loaded, Output& output, bool lists_refused = false);

}  // namespace profiler::cli
