// Formats a comparison as text, for a terminal or a review comment:
//
//   # overall: 10.02 s → 10.35 s of cpu-clock (+3.3 %), mostly in parse (+0.309 s)
//   # before: old.data: 10012 samples, 10.02 s of cpu-clock
//   # after:  new.data: 10008 samples, 10.02 s of cpu-clock
//   # 412 functions compared, each by itself: 2 changed by more than chance …
//   #
//   # Before   After  Change in points     Before     After     Change  Function
//   # ......  ......  ................  .........  ........  .........  ........
//     10.14%  13.22%     +3.08 ± 0.81     1.016 s   1.325 s   +0.309 s  parse
//
// Points are percentage points of the whole: from 10 % to 13 % is +3. The number after ± is half of
// the 95 % confidence interval. Times are means if a group has several runs.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/analysis/keyed_rows.h"
#include "src/views/diff/compare.h"

namespace profiler::diff {

// Groups of hosts, if the runs are hosts (compare_hosts.h).
struct HostGroups {
  std::string before, after;  // the groups' conditions: "release=1.2"
  size_t pairs = 0, left_out = 0;
};

struct TextOptions {
  analysis::KeyBy by = analysis::KeyBy::kFunction;
  Weight weight = Weight::kSelf;
  bool all = false;       // true to show also rows that are not significant
  bool markdown = false;  // true for a Markdown table
  // True to show rows first that became slower by more than their margin of error.
  bool slower_first = false;
  std::optional<HostGroups> hosts = {};
};

// Returns the text. Pure; thread-safe.
std::string FormatDiff(const Diff& diff, std::span<const Run> before, std::span<const Run> after,
                       const TextOptions& options);

}  // namespace profiler::diff
