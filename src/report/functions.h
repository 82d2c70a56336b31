// What a report groups by. A frame is an address; a report speaks of functions.
//
//   frame → functions at its address: the real one, then what was inlined into it, outermost first
//   frame → the function that a sample interrupted there is counted for (never an inlined one)
//
// Two functions are the same where
//   real      they have the same name and mode, in images that are shown by the same name
//   inlined   likewise
//   unnamed   they have the same address in the same DSO
// and, where the report sorts by keys finer than a function, they are at the same position
// (positions.h): the instruction's line for a real function, for an inlined one its own.
//
// perf tells functions of one name apart by their addresses, and so shows rows that look the same:
// static functions of several files, code that a JIT compiles anew, a function that was inlined
// into several others.
//
// As in perf (tools/perf/util/machine.c, hist.c; Linux 7.2) an unnamed *interrupted* address is
// counted at its position in the image's file, and an unnamed address in a call chain at its
// runtime address.

#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "src/profile/profile.h"
#include "src/report/positions.h"

namespace profiler::report {

using FunctionId = uint32_t;
inline constexpr FunctionId kNoFunction = std::numeric_limits<FunctionId>::max();

struct Function {
  StringId name{};  // empty: unnamed
  profile::DsoId dso{};
  profile::Mode mode = profile::Mode::kUnknown;
  bool inlined = false;
  uint32_t chain_key = 0;  // call graphs merge functions of the same key
  uint64_t address = 0;    // unnamed: what is shown; else where the (real) function starts

  bool named() const { return name != StringId::kEmpty; }
};

// Which name of an image is shown.
enum class ImageNames : bool { kShort, kPaths };

// Built once for a profile, in time linear in its frames. Keeps no reference to it, unless
// `positions` asks for any.
class FunctionTable {
 public:
  FunctionTable(const profile::Profile& profile, bool inlines, const PositionKeys& positions = {},
                ImageNames image_names = ImageNames::kShort);

  const Function& operator[](FunctionId id) const { return functions_[id]; }
  uint32_t size() const { return static_cast<uint32_t>(functions_.size()); }
  uint32_t chain_keys() const { return chain_keys_; }

  // Outermost first; never empty.
  std::span<const FunctionId> At(profile::FrameId frame) const {
    const FunctionId& at = at_[static_cast<uint32_t>(frame)];
    if (at < kLists) return {&at, 1};
    const FunctionId* const list = &lists_[at - kLists];
    return {list + 1, *list};
  }
  // To be called some time before At.
  void Prefetch(profile::FrameId frame) const {
    __builtin_prefetch(&at_[static_cast<uint32_t>(frame)]);
  }
  // Only of frames that a row of the profile has as its `self`, or a branch as one of its ends.
  FunctionId Interrupted(profile::FrameId frame) const {
    return interrupted_[static_cast<uint32_t>(frame)];
  }

  // Null unless asked for.
  const PositionTable* positions() const { return positions_.get(); }
  PositionId PositionOf(FunctionId id) const { return position_of_[id]; }

 private:
  class Builder;

  std::unique_ptr<PositionTable> positions_;
  std::vector<PositionId> position_of_;  // by function; empty without positions_
  HugeVector<Function> functions_;
  // By frame. Most frames are of one function: theirs. From kLists on, where in lists_ the number
  // of functions is, which they follow.
  static constexpr uint32_t kLists = uint32_t{1} << 31;
  HugeVector<uint32_t> at_;
  std::vector<uint32_t> lists_;
  HugeVector<FunctionId> interrupted_;  // by frame; kNoFunction where nothing was
  uint32_t chain_keys_ = 0;
};

}  // namespace profiler::report
