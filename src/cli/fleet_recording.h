// Converts a fleet's samples to a recording, which every view can open.

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/query/source.h"
#include "src/import/open_recording.h"
#include "src/import/write_profile.h"

namespace profiler::cli {

// Writes the answer to `path`. `source_name` goes to the recording's header. Errors: those of
// Source::Stacks and WriteRecordingOf.
absl::StatusOr<import::WrittenProfile> WriteAnswer(fleet::Source& source,
                                                   const std::string& source_name,
                                                   const fleet::StacksQuestion& question,
                                                   const std::string& path,
                                                   std::vector<std::string>* notes);

// Returns an object that lets views open addresses (src/fleet/query/address.h), as in `report -i
// '/spool?since=1h'`. Without an interval, a directory means all times, and a server the last hour.
// Prints notes as warnings. The object lives as long as the program.
import::AnswerMaker& FleetAnswers();

}  // namespace profiler::cli
