// Reads the formats of pprof's ancestors, which some programs still write:
//
//   CPU profiles of gperftools    machine words: 0 3 0 period 0, then { count, depth, addresses },
//                                 at the end 0 1 0, followed by /proc/PID/maps
//   CPU profiles of old Java      machine words: 0 3 1 …, followed by a name for each number
//   agents
//   heap profiles                 "heap profile:  144: 8498176 [ …] @ heapz_v2/524288", then lines
//                                 "1: 9216 [1: 9216] @ 0xc635c8 0x42ecc3 …", and the mappings
//   heap profiles of jemalloc     "heap_v2/524288", then "@ 0xc635c8 …" with lines
//                                 "t*: 1: 9216 [0: 0]"
//   counts of Go                  "goroutine profile: total 5", then "2 @ 0x41c711 …"
//
// An address has a name only if the file names it ("#⇥0x41c711⇥main.f+0x11⇥f.go:12"). Sampled heap
// profiles are scaled up to the allocated amount, as in pprof: an allocation of s bytes is sampled
// with a probability of 1 − e^(−s/rate).

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/importers/profile_maker.h"

namespace profiler::importers {

// Reads a profile into `maker`. Returns kDataLoss, with offset or line, if the file is cut or has
// none of these formats.
absl::Status ReadLegacyPprof(std::string_view bytes, ProfileMaker& maker);

bool LooksLikeLegacyPprof(std::string_view start);

}  // namespace profiler::importers
