// Adds what was found out later to a recording that is finished.

#pragma once

#include <string>
#include <string_view>

#include "src/base/status.h"

namespace profiler::perf_data {

// Puts a feature section of ours (from kFirstOwnFeature on) into the recording `path` that Writer
// has finished, in place. The section is behind the file's end and its entry in a spare place of
// the feature table before the header, by one write, says that it is there: whoever is killed on
// the way leaves the recording as it was. A failed write is undone.
//
// Errors: those of open(2) and pwrite(2); kDataLoss for what is no recording; kFailedPrecondition
// where there is no room: streams, recordings by others, and those that have this section or one
// with a higher number (rewrite.h is for these).
absl::Status AppendSection(const std::string& path, int bit, std::string_view section);

}  // namespace profiler::perf_data
