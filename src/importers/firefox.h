// Reads profiles of the Firefox Profiler, in two forms. Processed profiles of every version up to
// 75 are read: each thread has tables, or all threads share them (from version 60 on). In the Gecko
// form, a table consists of rows and has a schema. samply, Chrome importers and `profiler export`
// also write such profiles.
//
//   samples     stack, time (ms), weight │ stackTable  frame, prefix (or prefixOffset)
//   frameTable  func, line               │ funcTable   name, fileName, resource
//   resourceTable  lib                   │ libs        name, path
//
// A sample without a weight counts once. Weights in milliseconds become ns of the event "time".
// Weights in bytes become bytes of an event "bytes"; freed bytes are left out, and a warning counts
// them. A function without a name keeps its address if its library is available. The profile counts
// addresses from the beginning of the library in memory (library_code.h).

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/importers/json_tree.h"
#include "src/importers/profile_maker.h"

namespace profiler::importers {

// Reads a profile into `maker`. `symbols` is the text of the symbol file beside the profile, if
// there is one (library_code.h). Returns kDataLoss if tables have invalid indices.
absl::Status ReadFirefox(JsonTree::Value root, std::string_view symbols, ProfileMaker& maker);

// True if a JSON text has members that the Firefox Profiler writes.
bool LooksLikeFirefox(std::string_view text);

}  // namespace profiler::importers
