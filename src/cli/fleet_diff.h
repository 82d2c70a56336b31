// Two parts of a fleet side by side: what `profiler query --before … --after …` prints.

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/query/source.h"

namespace profiler::cli {

struct FleetDiffRequest {
  fleet::Selection selection;              // of both
  std::vector<std::string> before, after;  // what else holds of each: "release=1.2", "since=2d"
  fleet::UnixTime now = 0;
  bool total = false, all = false, json = false, markdown = false;
};

// The comparison as text. Adds lines for a person to `*notes`. kInvalidArgument for conditions that
// cannot be read; errors of Source::Stacks; kFailedPrecondition where both have no event in common.
absl::StatusOr<std::string> FleetDiffText(fleet::Source& source, const FleetDiffRequest& request,
                                          std::vector<std::string>* notes);

}  // namespace profiler::cli
