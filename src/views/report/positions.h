// Positions of code within functions, for the sort keys that are finer than a function:
//
//   srcline   "parse.cc:12". If the line is unknown: "parse+28" (bytes). If the symbol is also
//             unknown: "app[40311c]", the address in the image
//   srcfile   "parse.cc"
//   symoff    "parse+0x1c"
//
// Unknown files are "??". All code outside of images is one row "??:0", instead of one per address.
//
// Private to this package.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/string_table.h"
#include "src/profile/profile.h"
#include "src/views/report/options.h"

namespace profiler::report {

// The requested keys.
struct PositionKeys {
  std::array<bool, 3> wanted{};  // indexed by IndexOf(key)
  bool full_paths = false;       // True: paths of source files. False: base names, as in perf.

  static bool Are(SortKey key) { return key >= SortKey::kSrcline && key <= SortKey::kSymoff; }
  static size_t IndexOf(SortKey key) {
    return static_cast<size_t>(key) - static_cast<size_t>(SortKey::kSrcline);
  }
  bool Have(SortKey key) const { return Are(key) && wanted[IndexOf(key)]; }
  bool any() const { return wanted != std::array<bool, 3>(); }
};

PositionKeys PositionKeysOf(const ReportOptions& options);

using PositionId = uint32_t;

// The distinct positions of a profile's frames, by the requested keys.
class PositionTable {
 public:
  // The profile must outlive it.
  PositionTable(const profile::Profile& profile, const PositionKeys& keys)
      : profile_(profile), keys_(keys) {}

  // Adds the position of `line`'s function at the frame; a null `line` means that nothing is known.
  // Returns the position's id.
  PositionId Add(const profile::Frame& frame, const profile::Line* line);

  // Returns a position's text for one of the three keys.
  std::string_view Text(PositionId position, SortKey key) const {
    return texts_[StringId{TextId(position, key)}];
  }
  // Returns the position's rank in the order of the texts. Call RankTexts() first, after all
  // positions were added.
  uint32_t Rank(PositionId position, SortKey key) const { return ranks_[TextId(position, key)]; }
  void RankTexts();

  bool Has(SortKey key) const { return keys_.Have(key); }
  // Returns an id of the position's text for the key; equal texts have equal ids.
  uint32_t TextId(PositionId position, SortKey key) const {
    return static_cast<uint32_t>(positions_[position][PositionKeys::IndexOf(key)]);
  }

 private:
  using Position = std::array<StringId, 3>;  // texts by PositionKeys::IndexOf

  std::string TextAt(const profile::Frame& frame, const profile::Line* line, SortKey key) const;
  std::string WithoutLine(const profile::Frame& frame, const profile::Line* line) const;
  std::string_view FileName(const profile::Line& line) const;

  const profile::Profile& profile_;
  const PositionKeys keys_;
  StringTable texts_;
  std::vector<Position> positions_;
  absl::flat_hash_map<Position, PositionId> ids_;
  std::vector<uint32_t> ranks_;  // [n]: rank of the text with StringId n
};

}  // namespace profiler::report
