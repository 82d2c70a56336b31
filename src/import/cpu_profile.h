// CPU profiles of V8: what Chrome saves, and `node --cpu-prof` writes
// (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile):
//
//   nodes       [{ id, callFrame { functionName, url, lineNumber }, children [ids] }, …]
//   samples     [id, …]           the node that was on top
//   timeDeltas  [µs, …]           since the sample before, or since startTime; may be negative
//   endTime     µs                to which the last sample lasts
//
// Until 2017 Chrome wrote a tree instead, and v8-profiler and others still do. Its lines count from
// 1, and startTime and endTime are seconds:
//
//   head        { id, functionName, url, lineNumber, hitCount, children [nodes] }
//   samples     [id, …]
//   timestamps  [µs, …]
//
// In order of time, a sample lasts until the next one: that is its period, in nanoseconds of the
// event "time". A profile without samples has the hit counts of its nodes, as the event "samples".
// The node "(root)" is no frame.

#pragma once

#include <optional>
#include <vector>

#include "src/base/status.h"
#include "src/import/json_tree.h"
#include "src/import/profile_maker.h"

namespace profiler::import {

// kDataLoss where nodes are not a tree.
absl::Status ReadCpuProfile(JsonTree::Value root, ProfileMaker& maker);

// A CPU profile in pieces, as traces of Chrome have it.
struct CpuProfileParts {
  std::vector<JsonTree::Value> nodes, samples, time_deltas;
  std::optional<double> start, end;  // µs
  profile::ThreadId thread{};
};
absl::Status AddCpuProfile(const CpuProfileParts& parts, ProfileMaker& maker);

}  // namespace profiler::import
