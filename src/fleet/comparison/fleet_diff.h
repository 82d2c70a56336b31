// Compares two parts of a fleet: the output of `profiler query --before … --after …`.

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/query/source.h"

namespace profiler::fleet {

struct FleetDiffRequest {
  Selection selection;  // for both parts
  // additional conditions of each part: "release=1.2", "since=2d"
  std::vector<std::string> before, after;
  UnixTime now = 0;
  bool total = false, all = false, json = false, markdown = false;
};

// Returns the comparison as text. Adds lines for the user to `*notes`. Returns kInvalidArgument for
// malformed conditions, and kFailedPrecondition if the parts have no event in common. Other errors:
// those of Source::Stacks.
absl::StatusOr<std::string> FleetDiffText(Source& source, const FleetDiffRequest& request,
                                          std::vector<std::string>* notes);

}  // namespace profiler::fleet
