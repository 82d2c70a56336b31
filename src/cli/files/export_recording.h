// Exports a profile as a recording that contains only its samples, with their stacks, times and
// names.

#pragma once

#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/cli/files/export_formats.h"
#include "src/format/perf_data/format/features.h"
#include "src/importers/write_profile.h"
#include "src/profile/profile.h"

namespace profiler::cli {

// Checks that a recording can be written to `path` without overwriting `input`, the file that is
// read. `what` is the word for `input` in messages: "recording" or "profile". Returns
// kInvalidArgument, with a message that names the option.
absl::Status CheckRecordingOutput(const std::string& path, const std::string& input,
                                  std::string_view what);

// Writes the recording with importers::WriteProfile. Also stores the sums of its samples, so that
// views start at once. `features` go to the header. Errors: those of WriteProfile.
absl::StatusOr<importers::WrittenProfile> WriteRecordingOf(
    const profile::Profile& profile, const std::string& path, perf_data::Features features,
    importers::WriteProfileOptions options = {});

// Runs the export to perf.data. Returns the exit code.
int ExportRecording(const ExportRequest& request);

}  // namespace profiler::cli
