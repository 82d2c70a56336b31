// Reads speedscope's profiles (https://www.speedscope.app/file-format-schema.json). All profiles of
// a file share its frames. Each profile is one thread, and has one of two kinds:
//
//   "sampled"   samples [[root, …, leaf], …], each with a weight in a unit
//   "evented"   events of a frame that opens (O) or closes (C), each at a time
//
// Weights in units of time become ns of an event "time". A sample's time is the sum of the weights
// before it. Weights without a unit count samples.

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/importers/json_tree.h"
#include "src/importers/profile_maker.h"

namespace profiler::importers {

// Reads profiles into `maker`. Returns kDataLoss if a profile refers to a missing frame.
absl::Status ReadSpeedscope(JsonTree::Value root, ProfileMaker& maker);

// True if a JSON text has members that speedscope writes.
bool LooksLikeSpeedscope(std::string_view text);

}  // namespace profiler::importers
