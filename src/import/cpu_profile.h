// CPU profiles of V8: what Chrome saves, and `node --cpu-prof` writes
// (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile):
//
//   nodes       [{ id, callFrame { functionName, url, lineNumber }, children [ids] }, …]
//   samples     [id, …]           the node that was on top
//   timeDeltas  [µs, …]           since the sample before, or since startTime
//   endTime     µs                to which the last sample lasts
//
// A sample lasts until the next one: that is its period, in nanoseconds of the event "time". The
// node "(root)" is no frame.

#pragma once

#include "src/base/status.h"
#include "src/import/json_tree.h"
#include "src/import/profile_maker.h"

namespace profiler::import {

bool IsCpuProfile(JsonTree::Value root);

// kDataLoss where nodes are not a tree.
absl::Status ReadCpuProfile(JsonTree::Value root, ProfileMaker& maker);

}  // namespace profiler::import
