// A profile in the format of the Firefox Profiler (profiler.firefox.com), which Perfetto also
// opens: the processed format, version 61. Later viewers upgrade files of older versions, so they
// will still read version 61.
//
//   meta      clock, categories, kinds of markers
//   libs      images, with build-ids
//   shared    stackTable ─▶ frameTable ─▶ funcTable ─▶ stringArray, sources, resourceTable
//   threads   one per thread and event: samples {stack, time, weight}, markers
//
// Times are milliseconds since the recording's first sample. A sample's weight is the number of
// samples that it stands for. If off-CPU time was recorded, one list has a thread's samples on and
// off the CPU, and its weights are milliseconds. Each time off the CPU is also a marker. If samples
// have no times, they are one millisecond apart.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "src/profile/profile.h"
#include "src/views/interchange/origin.h"

namespace profiler::exports {

// Returns the profile as JSON. Takes time linear in rows, stacks and frames. Thread-safe.
nlohmann::ordered_json FirefoxJson(const profile::Profile& profile, const Origin& origin);

// Returns FirefoxJson as text, gzipped.
std::string Firefox(const profile::Profile& profile, const Origin& origin);

}  // namespace profiler::exports
