// Profiles of the Firefox Profiler: processed ones of every version up to 75, with tables that all
// threads share (from 60 on) or of each thread, and the Gecko form, in which tables are rows with a
// schema. samply, Chrome importers and `profiler export` write them, too.
//
//   samples     stack, time (ms), weight │ stackTable  frame, prefix (or prefixOffset)
//   frameTable  func, line               │ funcTable   name, fileName, resource
//   resourceTable  lib                   │ libs        name, path
//
// A sample without a weight counts once. Weights in milliseconds become nanoseconds of the event
// "time", weights in bytes those of an event "bytes", of which what was freed is left out, and a
// warning counts it. Addresses are kept where nothing but them is known of a function and the
// library is at hand: they count from where it begins in memory (library_code.h).

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/import/json_tree.h"
#include "src/import/profile_maker.h"

namespace profiler::import {

bool IsFirefox(JsonTree::Value root);

// `symbols` is the text of the symbol file beside the profile, if there is one (library_code.h).
// kDataLoss where tables refer to what is not there.
absl::Status ReadFirefox(JsonTree::Value root, std::string_view symbols, ProfileMaker& maker);

}  // namespace profiler::import
