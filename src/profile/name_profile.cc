#include "src/profile/name_profile.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/profile/broken_chains.h"
#include "src/profile/frame_namer.h"
#include "src/profile/image_shares.h"
#include "src/profile/image_spec.h"
#include "src/profile/inlined_calls.h"

namespace profiler::profile {

UnnamedProfile WithImages(Profile profile, symbolize::Symbolizer& symbolizer) {
  std::vector<symbolize::ImageSpec> specs(1);
  for (size_t i = 1; i < profile.images.size(); ++i) {
    specs.push_back(*SpecOf(profile, profile.images[i]));
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

  std::vector<symbolize::ImageId> in_symbolizer(1);
  std::vector<ImageId> first_of(1);  // [n]: the first image that is image n to the symbolizer
  absl::flat_hash_map<symbolize::ImageId, ImageId> first_with;
  for (uint32_t i = 1; i < profile.images.size(); ++i) {
    in_symbolizer.push_back(symbolizer.AddImage(specs[i]));
    first_of.push_back(first_with.try_emplace(in_symbolizer.back(), ImageId{i}).first->second);
  }
  if (first_with.size() + 1 != first_of.size()) {
    for (Frame& frame : profile.frames) frame.image = first_of[static_cast<uint32_t>(frame.image)];
  }
  return {std::move(profile), std::move(in_symbolizer)};
}

std::vector<ImageShare> SharesOfImages(const UnnamedProfile& unnamed) {
  const std::vector<double> shares = SharesByImage(unnamed.profile);
  std::vector<ImageShare> of_images;
  for (size_t i = 1; i < shares.size(); ++i)
    of_images.push_back({unnamed.in_symbolizer[i], shares[i]});
  return of_images;
}

Profile Named(UnnamedProfile unnamed, symbolize::Symbolizer& symbolizer) {
  FrameNamer(unnamed.profile, unnamed.in_symbolizer, symbolizer, /*by_address=*/false)
      .NameNewFrames();
  CountBrokenChains(&unnamed.profile);
  BoundInlinedCalls(unnamed.profile);
  return std::move(unnamed.profile);
}

}  // namespace profiler::profile
