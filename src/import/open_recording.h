// The door of every view: a recording, or a profile that another program wrote.

#pragma once

#include <memory>
#include <string>

#include "src/base/status.h"
#include "src/perf_data/read/recording.h"

namespace profiler::import {

// Recording::Open for both: a profile of another format is written as a recording into a temporary
// file without a name (write_profile.h), and that is opened. Costs the profile in memory, and some
// hundred bytes of temporary file a sample. Errors: those of Recording::Open and Import.
absl::StatusOr<std::unique_ptr<perf_data::Recording>> OpenRecording(const std::string& path);

}  // namespace profiler::import
