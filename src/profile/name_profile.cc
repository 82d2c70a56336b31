#include "src/profile/name_profile.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/profile/broken_chains.h"
#include "src/profile/dso_image.h"
#include "src/profile/frame_namer.h"
#include "src/profile/image_shares.h"
#include "src/profile/inlined_calls.h"

namespace profiler::profile {

UnnamedProfile WithImages(Profile profile, symbolize::Symbolizer& symbolizer) {
  std::vector<symbolize::ImageSpec> specs(1);
  for (size_t i = 1; i < profile.dsos.size(); ++i) {
    specs.push_back(*ImageOf(profile, profile.dsos[i]));
  }
  return WithImages(std::move(profile), specs, symbolizer);
}

UnnamedProfile WithImages(Profile profile, std::span<const symbolize::ImageSpec> specs,
                          symbolize::Symbolizer& symbolizer) {
  const KernelFacts& kernel = profile.kernel;
  if (kernel.reference != StringId::kEmpty) {
    symbolizer.SetKernelReference(profile.text(kernel.reference), kernel.reference_address);
  }
  for (const KernelFacts::Symbol& symbol : kernel.symbols) {
    symbolizer.AddKernelSymbol(symbol.start, symbol.size, profile.text(symbol.name));
  }

  std::vector<symbolize::ImageId> images(1);
  std::vector<DsoId> dsos(1);  // [n]: the first DSO with the image of DSO n
  absl::flat_hash_map<symbolize::ImageId, DsoId> dso_of;
  for (uint32_t i = 1; i < profile.dsos.size(); ++i) {
    images.push_back(symbolizer.AddImage(specs[i]));
    dsos.push_back(dso_of.try_emplace(images.back(), DsoId{i}).first->second);
  }
  if (dso_of.size() + 1 != dsos.size()) {
    for (Frame& frame : profile.frames) frame.dso = dsos[static_cast<uint32_t>(frame.dso)];
  }
  return {std::move(profile), std::move(images)};
}

std::vector<ImageShare> SharesOfImages(const UnnamedProfile& unnamed) {
  const std::vector<double> shares = SharesOfDsos(unnamed.profile);
  std::vector<ImageShare> of_images;
  for (size_t i = 1; i < shares.size(); ++i) of_images.push_back({unnamed.images[i], shares[i]});
  return of_images;
}

Profile Named(UnnamedProfile unnamed, symbolize::Symbolizer& symbolizer) {
  FrameNamer(unnamed.profile, unnamed.images, symbolizer, /*by_address=*/false).NameNewFrames();
  CountBrokenChains(&unnamed.profile);
  BoundInlinedCalls(unnamed.profile);
  return std::move(unnamed.profile);
}

}  // namespace profiler::profile
