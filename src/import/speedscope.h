// Profiles of speedscope (https://www.speedscope.app/file-format-schema.json): frames that all
// profiles of a file share, and profiles, one a thread, of either kind:
//
//   "sampled"   samples [[root, …, leaf], …] and a weight each, in a unit
//   "evented"   events of a frame that opens (O) or closes (C), each at a time
//
// Weights in units of time become nanoseconds of an event "time", and samples have the time up to
// which the weights before them add up. Weights without a unit count samples.

#pragma once

#include "src/base/status.h"
#include "src/import/json_tree.h"
#include "src/import/profile_maker.h"

namespace profiler::import {

bool IsSpeedscope(JsonTree::Value root);

// kDataLoss where a profile refers to a frame that is not there.
absl::Status ReadSpeedscope(JsonTree::Value root, ProfileMaker& maker);

}  // namespace profiler::import
