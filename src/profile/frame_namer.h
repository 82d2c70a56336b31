// Names the frames of a profile, each once, even if many stacks share it.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/profile/dense_index.h"
#include "src/profile/profile.h"
#include "symbolize/symbolizer.h"

namespace profiler::profile {

// The namer. Not thread-safe. All objects that it refers to must outlive it.
class FrameNamer {
 public:
  // `by_address`: true if frames at one place of an image may differ by their runtime addresses.
  // All frames at one place are named once and share their lines.
  FrameNamer(Profile& profile, const std::vector<symbolize::ImageId>& in_symbolizer,
             symbolize::Symbolizer& symbolizer, bool by_address)
      : profile_(profile),
        in_symbolizer_(in_symbolizer),
        symbolizer_(symbolizer),
        by_address_(by_address) {}

  // Names the frames added since the last call, image by image and in order of address, so that an
  // image's tables are read once and in order. Costs one comparison if there are none.
  void NameNewFrames() {
    if (named_ != profile_.frames.size()) NameRest();
  }
  // Names these frames, likewise, unless they have been named. Ignores kNoFrame.
  void Name(std::span<const FrameId> frames);

 private:
  void NameRest();
  void NameFrames(HugeVector<uint32_t> frames);
  void NameCut(Frame& frame);
  void SortByPlace(HugeVector<uint32_t>* frames) const;
  size_t Announce(const HugeVector<uint32_t>& order, size_t from);
  void Name(uint32_t index);
  void Name(Frame& frame);
  void NoteMissingMap(ImageId id);
  void NameByStart(const symbolize::Naming& naming, Frame& frame);
  SymbolId InternSymbol(const symbolize::NamedFunction& function, ImageId image);
  StringId InternFile(std::string_view file);
  bool IsLast(ElfAddress start, ImageId image) const;

  Profile& profile_;
  const std::vector<symbolize::ImageId>& in_symbolizer_;  // [n]: the symbolizer's id of image n
  symbolize::Symbolizer& symbolizer_;
  const bool by_address_;
  // The first frame with each image, place and return_address; used if by_address_.
  absl::flat_hash_map<std::tuple<ImageId, uint64_t, bool>, uint32_t> first_at_;
  size_t named_ = 0;                  // frames [0, named_) are named
  std::vector<bool> is_named_;        // [n]: frame n is named; shorter if no later frame is
  std::vector<CodePlace> announced_;  // used only by Announce; kept to save the allocation
  DenseIndex symbols_;
  SymbolId last_ = kNoSymbol;     // symbol that InternSymbol returned last
  bool last_is_unnamed_ = false;  // True if symbol last_ is named after its start.
  StringId last_file_ = StringId::kEmpty;
};

}  // namespace profiler::profile
