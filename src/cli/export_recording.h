// A profile as a recording of its own: its samples, with their stacks, times and names, and nothing
// else of where it came from.

#pragma once

#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/cli/export_formats.h"
#include "src/import/write_profile.h"
#include "src/perf_data/format/features.h"
#include "src/profile/profile.h"

namespace profiler::cli {

// A recording can be written to `path`, and not over `input`, the `what` ("recording", "profile")
// that is read. Errors: InvalidArgument; the messages name the option.
absl::Status CheckRecordingOutput(const std::string& path, const std::string& input,
                                  std::string_view what);

// import::WriteProfile with the sums of its samples, so that views begin at once. `features` are
// what the header says of the recording. Errors: those of WriteProfile.
absl::StatusOr<import::WrittenProfile> WriteRecordingOf(const profile::Profile& profile,
                                                        const std::string& path,
                                                        perf_data::Features features,
                                                        import::WriteProfileOptions options = {});

// The format perf.data of export; the exit code.
int ExportRecording(const ExportRequest& request);

}  // namespace profiler::cli
