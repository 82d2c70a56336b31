// Converts a named profile to a window: drops addresses and keeps names.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "src/fleet/segments/window.h"
#include "src/profile/profile.h"

namespace profiler::fleet {

// Facts about a process that are not in its samples. Empty if unknown.
struct ProcessFacts {
  std::string service, container, pod, build_id;
};
// Describes a process by its id and name; called once per process.
using DescribeProcess = std::function<ProcessFacts(uint32_t pid, std::string_view program)>;
// Returns the htlhash (src/machine/image_ids/htlhash.h) of an image's file; empty if unknown.
// Called once for each image without a build-id.
using HtlhashOfImage = std::function<std::string(const profile::Image& image)>;

// Returns a window with its tables and losses; the caller sets the other facts. The profile must
// distinguish threads. A frame without a symbol gets the name of its image in brackets, or
// "[unknown]" if the image is unknown. All images of JIT code are named "[JIT]", because their own
// names contain process ids. Takes time linear in the profile. Thread-safe if `describe` and
// `htlhash_of` are.
Window WindowOf(const profile::Profile& profile, const DescribeProcess& describe,
                const HtlhashOfImage& htlhash_of = {});

}  // namespace profiler::fleet
