// Names the frames of a profile: each once, whatever number of stacks it is in.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/profile/dense_index.h"
#include "src/profile/profile.h"
#include "symbolize/symbolizer.h"

namespace profiler::profile {

// Not thread-safe. What it refers to must outlive it.
class FrameNamer {
 public:
  // `by_address`: frames are told apart by runtime addresses, so many may be at one place of an
  // image. They are named once and share their lines.
  FrameNamer(Profile& profile, const std::vector<symbolize::ImageId>& images,
             symbolize::Symbolizer& symbolizer, bool by_address)
      : profile_(profile), images_(images), symbolizer_(symbolizer), by_address_(by_address) {}

  // Names the frames that were made since the last call, an image at a time and by address, so that
  // an image's tables are read once and in order. Costs one comparison when there are none.
  void NameNewFrames() {
    if (named_ != profile_.frames.size()) NameFrames();
  }

 private:
  void NameFrames();
  void NameCuts();
  HugeVector<uint32_t> FramesToName() const;
  size_t Announce(const HugeVector<uint32_t>& order, size_t from);
  void Name(uint32_t index);
  void Name(Frame& frame);
  void NoteMissingMap(DsoId id);
  void NameByStart(const symbolize::Naming& naming, Frame& frame);
  SymbolId InternSymbol(const symbolize::NamedFunction& function, DsoId dso);
  StringId InternFile(std::string_view file);
  bool IsLast(ElfAddress start, DsoId dso) const;

  Profile& profile_;
  const std::vector<symbolize::ImageId>& images_;  // by DsoId
  symbolize::Symbolizer& symbolizer_;
  const bool by_address_;
  // By dso, place and return_address, the first frame named there; used if by_address_.
  absl::flat_hash_map<std::tuple<DsoId, uint64_t, bool>, uint32_t> first_at_;
  size_t named_ = 0;                  // frames [0, named_) are
  std::vector<CodePlace> announced_;  // at once
  DenseIndex symbols_;
  SymbolId last_ = kNoSymbol;     // that InternSymbol gave
  bool last_is_unnamed_ = false;  // its name was made of where it starts
  StringId last_file_ = StringId::kEmpty;
};

}  // namespace profiler::profile
