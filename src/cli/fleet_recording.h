// What a fleet did, as a recording that every view opens.

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/query/source.h"
#include "src/import/open_recording.h"
#include "src/import/write_profile.h"

namespace profiler::cli {

// Writes the answer to `path`; `source` is who was asked, for the recording's header. Errors: those
// of Source::Stacks and WriteRecordingOf.
absl::StatusOr<import::WrittenProfile> WriteAnswer(fleet::Source& source,
                                                   const std::string& source_name,
                                                   const fleet::StacksQuestion& question,
                                                   const std::string& path,
                                                   std::vector<std::string>* notes);

// Lets views open addresses (src/fleet/query/address.h): `report -i '/spool?since=1h'`. Of a
// directory all times are meant where none is given, of a server the last hour. Prints notes as
// warnings. Lives as long as the program.
import::AnswerMaker& FleetAnswers();

}  // namespace profiler::cli
