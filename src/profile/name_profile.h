// Gives a profile that has no names yet its names, whether it was made of records or read.

#pragma once

#include <span>
#include <vector>

#include "src/profile/profile.h"
#include "symbolize/symbolizer.h"

namespace profiler::profile {

struct UnnamedProfile {
  Profile profile;
  // By DsoId: the image of a symbolizer. That of the DSO called "[unknown]" means nothing.
  std::vector<symbolize::ImageId> images;
};

// Tells `symbolizer` of a profile's images and of what the recording says of the kernel. Those that
// are one image to the symbolizer become one DSO.
UnnamedProfile WithImages(Profile profile, symbolize::Symbolizer& symbolizer);
// Does so with all that is known of each image. `specs` are by DsoId; the first one means nothing.
UnnamedProfile WithImages(Profile profile, std::span<const symbolize::ImageSpec> specs,
                          symbolize::Symbolizer& symbolizer);

// What part of the samples, from 0 to 1, has code of an image anywhere on its stack. The kernel is
// among the images; what is in no image is not.
struct ImageShare {
  symbolize::ImageId image;
  double share;
};
std::vector<ImageShare> SharesOfImages(const UnnamedProfile& unnamed);

// Names each frame once, by the symbolizer that has the images, and counts broken chains. A stack
// has a bounded number of inlined calls (inlined_calls.h).
Profile Named(UnnamedProfile unnamed, symbolize::Symbolizer& symbolizer);

}  // namespace profiler::profile
