// A named profile as a fleet's window: addresses go, names stay.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "src/fleet/window.h"
#include "src/profile/profile.h"

namespace profiler::fleet {

// What is known of a process besides its samples. Empty where nothing is.
struct ProcessFacts {
  std::string service, container, pod, build_id;
};
// Asked once for each process, by its id and its name.
using DescribeProcess = std::function<ProcessFacts(uint32_t pid, std::string_view program)>;
// The htlhash (src/image_ids/htlhash.h) of the file of an image without a build-id; empty if that
// is not known. Asked once for each image.
using HtlhashOfImage = std::function<std::string(const profile::Dso& dso)>;

// The tables of a window, and its losses; the rest is for the caller to fill in. The profile must
// tell threads apart. A frame without a name is called as views call it, "[unknown]". Images of
// code that a JIT made are all "[JIT]", for their names have process ids in them. Linear in the
// profile. Thread-safe where `describe` is.
Window WindowOf(const profile::Profile& profile, const DescribeProcess& describe,
                const HtlhashOfImage& htlhash_of = {});

}  // namespace profiler::fleet
