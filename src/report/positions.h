// Where in its function code is, for the sort keys that are finer than a function:
//
//   srcline   "parse.cc:12"; of an inlined call, the line in the function itself. Where no line is
//             known, "parse+28" (bytes), and where no symbol is either, "app[40311c]", the address
//             that the image has for it
//   srcfile   "parse.cc"
//   symoff    "parse+0x1c"
//
// Files that are not known are "??", and code in no image is at "??:0": one row, not one an
// address.
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
#include "src/report/options.h"

namespace profiler::report {

// Which of the keys are asked for.
struct PositionKeys {
  std::array<bool, 3> wanted{};  // by IndexOf
  bool full_paths = false;       // of source files; else their last part, as perf has it

  static bool Are(SortKey key) { return key >= SortKey::kSrcline && key <= SortKey::kSymoff; }
  static size_t IndexOf(SortKey key) {
    return static_cast<size_t>(key) - static_cast<size_t>(SortKey::kSrcline);
  }
  bool Have(SortKey key) const { return Are(key) && wanted[IndexOf(key)]; }
  bool any() const { return wanted != std::array<bool, 3>(); }
};

PositionKeys PositionKeysOf(const ReportOptions& options);

using PositionId = uint32_t;

// The distinct positions of a profile's frames, as far as the keys tell them apart.
class PositionTable {
 public:
  // The profile must outlive it.
  PositionTable(const profile::Profile& profile, const PositionKeys& keys)
      : profile_(profile), keys_(keys) {}

  // Of the function that `line` of the frame is; null where nothing is known of the frame.
  PositionId Add(const profile::Frame& frame, const profile::Line* line);

  // What is shown of a position for one of the three keys.
  std::string_view Text(PositionId position, SortKey key) const {
    return texts_[StringId{TextId(position, key)}];
  }
  // Ranks are in the order of the texts; valid once all positions are added.
  uint32_t Rank(PositionId position, SortKey key) const { return ranks_[TextId(position, key)]; }
  void RankTexts();

  bool Has(SortKey key) const { return keys_.Have(key); }
  // By key: equal where the texts are.
  uint32_t TextId(PositionId position, SortKey key) const {
    return static_cast<uint32_t>(positions_[position][PositionKeys::IndexOf(key)]);
  }

 private:
  using Position = std::array<StringId, 3>;  // its texts, by PositionKeys::IndexOf

  std::string TextAt(const profile::Frame& frame, const profile::Line* line, SortKey key) const;
  std::string WithoutLine(const profile::Frame& frame, const profile::Line* line) const;
  std::string_view FileName(const profile::Line& line) const;

  const profile::Profile& profile_;
  const PositionKeys keys_;
  StringTable texts_;
  std::vector<Position> positions_;
  absl::flat_hash_map<Position, PositionId> ids_;
  std::vector<uint32_t> ranks_;  // by StringId
};

}  // namespace profiler::report
