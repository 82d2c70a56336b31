// Reads CPU profiles of V8, which Chrome saves, and `node --cpu-prof` writes
// (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile):
//
//   nodes       [{ id, callFrame { functionName, url, lineNumber }, children [ids] }, …]
//   samples     [id, …]           the innermost node
//   timeDeltas  [µs, …]           since the former sample, or since startTime; may be negative
//   endTime     µs                end of the last sample
//
// Until 2017 Chrome wrote a tree instead; v8-profiler and others still do. Its lines count from 1,
// and startTime and endTime are seconds:
//
//   head        { id, functionName, url, lineNumber, hitCount, children [nodes] }
//   samples     [id, …]
//   timestamps  [µs, …]
//
// In time order, a sample lasts until the next one. This duration in ns is its period, and its
// event is "time". A profile without samples yields the hit counts of its nodes, as the event
// "samples". The node "(root)" is not a frame.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/importers/json_tree.h"
#include "src/importers/profile_maker.h"

namespace profiler::importers {

inline constexpr double kNanosecondsInAMicrosecond = 1e3;

// Reads a profile into `maker`. Returns kDataLoss if the nodes are not a tree.
absl::Status ReadCpuProfile(JsonTree::Value root, ProfileMaker& maker);

// A CPU profile in pieces, as Chrome's traces have it.
struct CpuProfileParts {
  std::vector<JsonTree::Value> nodes, samples, time_deltas;
  std::optional<double> start, end;  // in µs
  profile::ThreadId thread{};
};
absl::Status AddCpuProfile(const CpuProfileParts& parts, ProfileMaker& maker);

// True if a JSON text has members that only CPU profiles have.
bool LooksLikeCpuProfile(std::string_view text);

}  // namespace profiler::importers
