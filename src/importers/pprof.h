// Reads pprof's profiles (profile.proto of github.com/google/pprof), as Go, gperftools' converters,
// async-profiler, py-spy and many agents write them:
//
//   Profile   sample_type { type, unit } …      types of the values of each sample
//             sample { location ids, leaf first │ values │ labels } …
//             location { address, mapping, lines, innermost first }
//             function { name, file }   mapping { addresses, offset, file, build-id }   strings
//
// A type samples/count and the type after it become one event. The first value is its number of
// samples, and the second value is its period. Every other type is a separate event; each sample of
// the file that has a value of this type counts as one sample. The first event is the event of
// default_sample_type, or else the event of the last type, as in `go tool pprof`. The labels pid,
// tid (thread_id), thread and comm identify the thread of a sample. Negative values, as in
// differences of profiles, cannot be shown: they are left out, and a warning counts them.
//
// Each line of a location is a frame, so a value counts for the innermost inlined function, as in
// pprof. drop_frames and keep_frames are applied (drop_frames.h).

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/importers/profile_maker.h"

namespace profiler::importers {

// Reads uncompressed `bytes` into `maker`. Returns kDataLoss if they are cut, or do not have this
// layout.
absl::Status ReadPprof(std::string_view bytes, ProfileMaker& maker);

// True if the bytes begin like a file of this format.
bool LooksLikePprof(std::string_view start);

}  // namespace profiler::importers
