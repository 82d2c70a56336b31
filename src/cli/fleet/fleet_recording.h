// Converts a fleet's samples to a recording, which every view can open.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/query/source.h"
#include "src/importers/open_recording.h"
#include "src/importers/write_profile.h"

namespace profiler::cli {

// Asks `source` the question, and writes the answer as a recording to `path`. `source_name` goes to
// the recording's header. Errors: those of Source::Stacks and WriteRecordingOf.
absl::StatusOr<importers::WrittenProfile> WriteAnswer(fleet::Source& source,
                                                      const std::string& source_name,
                                                      const fleet::StacksQuestion& question,
                                                      const std::string& path,
                                                      std::vector<std::string>* notes);

// Lets a view open addresses of a fleet (src/fleet/query/source_address.h): `report -i '/spool?since=1h'`.
// If an address gives no time, the view reads all windows of a directory, but only the last hour of
// windows from a server. Notes are printed as warnings. `format`, if given, is the format of an
// input that is another program's profile.
importers::OpenOptions OpenOptionsFor(std::optional<importers::Format> format = std::nullopt);

}  // namespace profiler::cli
