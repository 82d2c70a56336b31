// A profile as the Firefox Profiler reads it (profiler.firefox.com; Perfetto opens it, too): its
// processed format, version 61. The viewer brings older versions up to date, so this one
// stays.
//
//   meta      clock, categories, kinds of markers
//   libs      images, with build-ids
//   shared    stackTable ─▶ frameTable ─▶ funcTable ─▶ stringArray, sources, resourceTable
//   threads   one a thread and event: samples {stack, time, weight}, markers
//
// Times are milliseconds since the recording's first sample. A sample weighs the number of samples
// it stands for. A thread's times on and off the CPU are one list, whose samples weigh
// milliseconds, and each time off the CPU is a marker as well. Without times samples are a
// millisecond apart.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "src/export/interchange/origin.h"
#include "src/profile/profile.h"

namespace profiler::exports {

// Linear in rows, stacks and frames. Thread-safe.
nlohmann::ordered_json FirefoxJson(const profile::Profile& profile, const Origin& origin);

// The same as text, gzipped.
std::string Firefox(const profile::Profile& profile, const Origin& origin);

}  // namespace profiler::exports
