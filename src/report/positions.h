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

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/string_table.h"
#include "src/profile/profile.h"
#include "src/report/options.h"

namespace profiler::report {

// Which of the keys are asked for.
struct PositionKeys {
  bool srcline = false, srcfile = false, symoff = false;
  bool full_paths = false;  // of source files; else their last part, as perf has it

  bool any() const { return srcline || srcfile || symoff; }
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
  std::string_view Text(PositionId position, SortKey key) const;
  // Ranks are in the order of the texts; valid once all positions are added.
  uint32_t Rank(PositionId position, SortKey key) const;
  void RankTexts();

  bool Has(SortKey key) const;
  // By key: equal where the texts are.
  uint32_t TextId(PositionId position, SortKey key) const;

 private:
  struct Position {
    StringId srcline{}, srcfile{}, symoff{};
  };
  StringId IdOf(const Position& position, SortKey key) const;
  std::string WithoutLine(const profile::Frame& frame, const profile::Line* line) const;
  std::string_view FileName(const profile::Line& line) const;

  const profile::Profile& profile_;
  const PositionKeys keys_;
  StringTable texts_;
  std::vector<Position> positions_;
  absl::flat_hash_map<std::tuple<StringId, StringId, StringId>, PositionId> ids_;
  std::vector<uint32_t> ranks_;  // by StringId
};

}  // namespace profiler::report
