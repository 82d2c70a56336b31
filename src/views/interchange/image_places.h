// Addresses of images, for formats whose code locations are addresses in mappings.
//
// A profile stores an image once, even if many processes mapped it, and an offset in the file for
// each of its frames. The image is placed at the address that it had in the first process:
//
//   frame      ip 0x55d0c3a41234, offset 0x1234 in the file      bias = 0x55d0c3a40000
//   mapping    [0x55d0c3a41000, 0x55d0c3a43000) of offset 0x1000
//   address    bias + offset, of every frame of the image
//
// Code that is not in a file keeps the addresses at which it ran.

#pragma once

#include <cstdint>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::exports {

struct ImagePlace {
  uint64_t start = 0, limit = 0;  // pages with all frames of the image; limit 0: no frames
  uint64_t file_offset = 0;       // file offset of `start`
  uint64_t bias = 0;
};

class ImagePlaces {
 public:
  // Takes time linear in the frames.
  explicit ImagePlaces(const profile::Profile& profile);

  const ImagePlace& operator[](profile::ImageId image) const {
    return places_[static_cast<uint32_t>(image)];
  }
  uint64_t AddressOf(const profile::Frame& frame) const {
    return frame.place.in_file ? (*this)[frame.image].bias + frame.place.value : frame.place.value;
  }

 private:
  std::vector<ImagePlace> places_;  // indexed by ImageId
};

}  // namespace profiler::exports
