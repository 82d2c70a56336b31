// Profiles of pprof (profile.proto of github.com/google/pprof), as Go, gperftools' converters,
// async-profiler, py-spy and many agents write them:
//
//   Profile   sample_type { type, unit } …      what the values of a sample are
//             sample { location ids, leaf first │ values │ labels } …
//             location { address, mapping, lines, innermost first }
//             function { name, file }   mapping { addresses, offset, file, build-id }   strings
//
// A type that is samples/count, and the type behind it, are one event: how many samples, and what
// they add up to (the period). Every other type is an event by itself, of which each sample of the
// file with a value is one sample. The first event is that of default_sample_type, or else of the
// last type, as `go tool pprof` shows it. Labels pid, tid (thread_id), thread and comm say whose
// sample it is. Values below zero, as differences of profiles have them, cannot be shown: they are
// left out, and a warning counts them.
//
// Each line of a location is a frame, so a value counts for the innermost inlined function, as in
// pprof. drop_frames and keep_frames are applied (drop_frames.h).

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/import/profile_maker.h"

namespace profiler::import {

// `bytes`: not compressed. kDataLoss where they are cut, or not of this layout.
absl::Status ReadPprof(std::string_view bytes, ProfileMaker& maker);

// Whether they begin as such a file does.
bool LooksLikePprof(std::string_view start);

}  // namespace profiler::import
