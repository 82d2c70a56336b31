#include "src/profile/dso_image.h"

#include <string>

namespace profiler::profile {

std::optional<symbolize::ImageSpec> ImageOf(const Profile& profile, const Dso& dso) {
  if (dso.kind >= symbolize::ImageKind::kUnknown) return std::nullopt;
  return symbolize::ImageSpec{.kind = dso.kind,
                              .path = std::string(profile.text(dso.long_name)),
                              .build_id = dso.build_id,
                              .pid = dso.pid};
}

}  // namespace profiler::profile
