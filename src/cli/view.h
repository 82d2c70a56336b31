// How every view begins and ends: the recording is opened or loaded, and what went wrong is said.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/cli/describe_recording.h"
#include "src/cli/output.h"
#include "src/import/format.h"
#include "src/naming/load_profile.h"

namespace profiler::cli {

// naming::LoadProfile, or nothing after printing the error.
std::optional<naming::LoadedProfile> LoadProfileOrPrint(const std::string& path,
                                                        const naming::LoadOptions& options);

// Opens a recording, an answer of a fleet, or another program's profile, which is in `format` if
// that is given. Returns null after printing the error.
std::unique_ptr<perf_data::Recording> OpenRecordingOrPrint(
    const std::string& path, std::optional<import::Format> format = std::nullopt);

// Prints a warning of files that names were not taken from, because they are another build than the
// recorded one; with `lists_each` for each of them.
void PrintRefusedFiles(const profile::Profile& profile, bool lists_each = false);

// Drops the rows that do not pass the filter of `load`. Returns why no sample is left, and which
// values the samples have, if the filter, --time or -C leaves none.
std::optional<std::string> KeepFiltered(const naming::LoadOptions& load,
                                        naming::LoadedProfile& loaded);
// The reason alone; drops nothing.
std::optional<std::string> WhyNothingIsLeft(const naming::LoadOptions& load,
                                            const naming::LoadedProfile& loaded);

// The reason if that is --time or -C: of a recording of which these choose no sample. Nothing if
// neither is given.
std::optional<std::string> WhyNoneIsChosen(const naming::LoadOptions& load,
                                           const perf_data::Recording& recording);

// Writes only the recording's header. Returns the exit code.
int WriteHeaderAlone(const std::string& path, std::optional<import::Format> format,
                     HeaderDetail detail = HeaderDetail::kFull);

// Closes the output, prints warnings and what went wrong while reading or writing; the exit code.
int Finish(const perf_data::Recording& recording, const absl::Status& reading, Output& output);
int Finish(const naming::LoadedProfile& loaded, Output& output, bool lists_refused = false);

}  // namespace profiler::cli
