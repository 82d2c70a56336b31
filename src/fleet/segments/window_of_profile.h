// Converts a named profile to a window: drops addresses and keeps names.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "src/fleet/segments/window.h"
#include "src/profile/profile.h"

namespace profiler::fleet {

// Facts about a process that its samples lack. Empty if unknown.
struct ProcessFacts {
  std::string service, container, pod, build_id;
};
// Describes a process by its id and name; called once per process.
using DescribeProcess = std::function<ProcessFacts(uint32_t pid, std::string_view program)>;
// Returns the htlhash (src/machine/image_ids/htlhash.h) of the file of an image without a build-id; empty
// if it is unknown. Called once per image.
using HtlhashOfImage = std::function<std::string(const profile::Dso& dso)>;

// Returns a window with its tables and losses; the caller sets the other facts. The profile must
// keep threads apart. A frame without a symbol gets its image's name in brackets, "[unknown]" if
// that is unknown. Images of JIT code are all named "[JIT]", because their names contain process
// ids. Takes time linear in the profile. Thread-safe if `describe` and `htlhash_of` are.
Window WindowOf(const profile::Profile& profile, const DescribeProcess& describe,
                const HtlhashOfImage& htlhash_of = {});

}  // namespace profiler::fleet
