// The functions that a report groups by. A frame is an address; a report shows functions.
//
//   frame → functions at its address: the real function, then the inlined ones, outermost first
//   frame → the function that a sample there is counted for (never an inlined one)
//
// Two functions are equal if
//   real      they have the same name and mode, in images that are shown by the same name
//   inlined   they fulfil the same condition
//   unnamed   they have the same address in the same image
// If the report sorts by keys finer than a function, equal functions must also be at the same
// position (positions.h). In a call chain, each function has its own line: the line of its call, and
// in the innermost function the line of the instruction. A sample counts for the line of the
// instruction.
//
// perf distinguishes functions of one name by their addresses, so it shows rows that look the same:
// static functions of several files, code that a JIT compiles again, a function that was inlined
// into several others.
//
// As in perf (tools/perf/util/machine.c, hist.c; Linux 7.2), an unnamed *interrupted* address is
// counted at its offset in the image's file, and an unnamed address in a call chain at its runtime
// address.

#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "src/profile/profile.h"
#include "src/views/report/positions.h"

namespace profiler::report {

using FunctionId = uint32_t;
inline constexpr FunctionId kNoFunction = std::numeric_limits<FunctionId>::max();

struct Function {
  StringId name{};  // empty: the function has no name
  profile::ImageId image{};
  profile::Mode mode = profile::Mode::kUnknown;
  bool inlined = false;
  uint32_t chain_key = 0;  // call graphs merge functions with equal keys
  uint64_t address = 0;    // without a name: the address shown; else the start of the real function

  bool named() const { return name != StringId::kEmpty; }
};

// The names that a report shows for images: base names or paths.
enum class ImageNames : bool { kShort, kPaths };

// The functions of a profile. Built in time linear in the profile's frames. After construction it
// refers to the profile only if it grows, or if `positions` requests positions.
class FunctionTable {
 public:
  // kGrows: Grow may be called. Such a table keeps 24 bytes for each function.
  enum class Growth : bool { kIsFixed, kGrows };

  FunctionTable(const profile::Profile& profile, bool inlines, const PositionKeys& positions = {},
                ImageNames image_names = ImageNames::kShort, Growth growth = Growth::kIsFixed);
  FunctionTable(const FunctionTable&) = delete;
  ~FunctionTable();

  // Adds the functions of frames that the profile has got since, and notes that samples interrupted
  // these frames. Ids stay.
  void Grow(std::span<const profile::FrameId> interrupted);

  const Function& operator[](FunctionId id) const { return functions_[id]; }
  uint32_t size() const { return static_cast<uint32_t>(functions_.size()); }
  uint32_t chain_keys() const { return chain_keys_; }

  // Returns the functions at a frame, outermost first; never empty.
  std::span<const FunctionId> At(profile::FrameId frame) const {
    const FunctionId& at = at_[static_cast<uint32_t>(frame)];
    if (at < kLists) return {&at, 1};
    const FunctionId* const list = &lists_[at - kLists];
    return {list + 1, *list};
  }
  // Prefetches the memory that At() needs; call it some time before At().
  void Prefetch(profile::FrameId frame) const {
    __builtin_prefetch(&at_[static_cast<uint32_t>(frame)]);
  }
  // Returns the function that a sample at the frame is counted for. Valid only for frames that are
  // a row's `self` or an end of a branch.
  FunctionId Interrupted(profile::FrameId frame) const {
    return interrupted_[static_cast<uint32_t>(frame)];
  }

  // Returns the positions; null unless requested.
  const PositionTable* positions() const { return positions_.get(); }
  PositionId PositionOf(FunctionId id) const { return position_of_[id]; }

 private:
  class Builder;

  std::unique_ptr<Builder> builder_;  // null if the table is fixed
  std::unique_ptr<PositionTable> positions_;
  std::vector<PositionId> position_of_;  // [n]: position of function n; empty without positions_
  HugeVector<Function> functions_;
  // Indexed by frame. The element of a frame with one function is the function's id. The element of
  // any other frame is kLists plus an index into lists_. From that index on, lists_ has the number
  // of the frame's functions, and then their ids.
  static constexpr uint32_t kLists = uint32_t{1} << 31;
  HugeVector<uint32_t> at_;
  std::vector<uint32_t> lists_;
  // [frame]: function of the frame's samples; kNoFunction without samples
  HugeVector<FunctionId> interrupted_;
  uint32_t chain_keys_ = 0;
};

}  // namespace profiler::report
