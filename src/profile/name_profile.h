// Names an unnamed profile, whether it was built from records or read.

#pragma once

#include <span>
#include <vector>

#include "src/profile/profile.h"
#include "symbolize/symbolizer.h"

namespace profiler::profile {

struct UnnamedProfile {
  Profile profile;
  // [n]: a symbolizer's id of the profile's image n. The entry of the image called "[unknown]" is
  // meaningless.
  std::vector<symbolize::ImageId> in_symbolizer;
};

// Adds a profile's images, and the recording's facts about the kernel, to `symbolizer`. Images
// that are one image to the symbolizer become one image of the profile.
UnnamedProfile WithImages(Profile profile, symbolize::Symbolizer& symbolizer);
// Adds the images with all known facts. `specs` is indexed by ImageId; its first element is
// ignored.
UnnamedProfile WithImages(Profile profile, std::span<const symbolize::ImageSpec> specs,
                          symbolize::Symbolizer& symbolizer);

// The share of samples, from 0 to 1, that have code of an image anywhere on their stack. The kernel
// counts as an image; code in no image is not included.
struct ImageShare {
  symbolize::ImageId image;
  double share;
};
std::vector<ImageShare> SharesOfImages(const UnnamedProfile& unnamed);

// Names each frame once and counts broken chains. `symbolizer` must have the profile's images.
// Limits the inlined calls of a stack (inlined_calls.h).
Profile Named(UnnamedProfile unnamed, symbolize::Symbolizer& symbolizer);

}  // namespace profiler::profile
