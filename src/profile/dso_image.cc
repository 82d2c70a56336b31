#include "src/profile/dso_image.h"

#include <algorithm>
#include <string>

namespace profiler::profile {
namespace {

using symbolize::ImageKind;

struct Kinds {
  ImageKind image;
  DsoKind dso;
};
constexpr Kinds kKinds[] = {
    {ImageKind::kUser, DsoKind::kUser},       {ImageKind::kVdso, DsoKind::kVdso},
    {ImageKind::kKernel, DsoKind::kKernel},   {ImageKind::kModule, DsoKind::kModule},
    {ImageKind::kBpf, DsoKind::kBpf},         {ImageKind::kJit, DsoKind::kJit},
    {ImageKind::kJitDump, DsoKind::kJitDump}, {ImageKind::kAnonymous, DsoKind::kAnonymous},
};

}  // namespace

DsoKind DsoKindOf(ImageKind kind) {
  const auto found = std::ranges::find(kKinds, kind, &Kinds::image);
  return found == std::end(kKinds) ? DsoKind::kUnknown : found->dso;
}

std::optional<symbolize::ImageSpec> ImageOf(const Profile& profile, const Dso& dso) {
  const auto found = std::ranges::find(kKinds, dso.kind, &Kinds::dso);
  if (found == std::end(kKinds)) return std::nullopt;
  return symbolize::ImageSpec{.kind = found->image,
                              .path = std::string(profile.text(dso.long_name)),
                              .build_id = dso.build_id,
                              .pid = dso.pid};
}

}  // namespace profiler::profile
