#include "src/views/interchange/image_places.h"

#include <algorithm>

namespace profiler::exports {

using profile::Frame;

namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

ImagePlaces::ImagePlaces(const profile::Profile& profile) : places_(profile.images.size()) {
  std::vector<bool> has_bias(places_.size());
  for (const Frame& frame : profile.frames) {
    const auto image = static_cast<uint32_t>(frame.image);
    if (has_bias[image] || !frame.place.in_file) continue;
    has_bias[image] = true;
    // An ip below the offset is impossible for this image, so it is ignored.
    const uint64_t ip = frame.ip.value;
    if (ip > frame.place.value) places_[image].bias = (ip - frame.place.value) / kPage * kPage;
  }
  for (const Frame& frame : profile.frames) {
    ImagePlace& place = places_[static_cast<uint32_t>(frame.image)];
    const uint64_t address = AddressOf(frame);
    const uint64_t page = address / kPage * kPage;
    if (place.limit == 0) place.start = page;
    place.start = std::min(place.start, page);
    place.limit = std::max(place.limit, page > UINT64_MAX - kPage ? UINT64_MAX : page + kPage);
  }
  for (ImagePlace& place : places_) {
    place.file_offset = place.bias == 0 ? 0 : place.start - place.bias;
  }
}

}  // namespace profiler::exports
