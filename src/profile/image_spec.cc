#include "src/profile/image_spec.h"

#include <string>

namespace profiler::profile {

std::optional<symbolize::ImageSpec> SpecOf(const Profile& profile, const Image& image) {
  if (image.kind >= symbolize::ImageKind::kUnknown) return std::nullopt;
  return symbolize::ImageSpec{.kind = image.kind,
                              .path = std::string(profile.text(image.long_name)),
                              .build_id = image.build_id,
                              .pid = image.pid};
}

}  // namespace profiler::profile
