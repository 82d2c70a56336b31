// What pprof's ancestors write, and some programs still do:
//
//   CPU profiles of gperftools    words of the machine: 0 3 0 period 0, then { count, depth,
//   addresses },
//                                 at the end 0 1 0, and behind it /proc/PID/maps
//   the same of old Java agents   0 3 1 …, and behind it a name for each number
//   heap profiles                 "heap profile:  144: 8498176 [ …] @ heapz_v2/524288", then lines
//                                 "1: 9216 [1: 9216] @ 0xc635c8 0x42ecc3 …", and the mappings
//   of jemalloc                   "heap_v2/524288", then "@ 0xc635c8 …" with lines "t*: 1: 9216 [0:
//   0]" counts of Go                  "goroutine profile: total 5", then "2 @ 0x41c711 …"
//
// Addresses have no names but those that stand in the file ("#⇥0x41c711⇥main.f+0x11⇥f.go:12"). Heap
// profiles that were sampled are scaled up to what was allocated, as pprof does: an allocation of
// s bytes is sampled with a probability of 1 − e^(−s/rate).

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/import/profile_maker.h"

namespace profiler::import {

// kDataLoss, with offset or line, where the file is cut or of none of these forms.
absl::Status ReadLegacyPprof(std::string_view bytes, ProfileMaker& maker);

bool LooksLikeLegacyPprof(std::string_view start);

}  // namespace profiler::import
