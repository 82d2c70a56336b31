// Which functions, lines or paths changed between two recordings, or two groups of them, by more
// than chance.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/diff/run.h"
#include "src/estimate/change.h"

namespace profiler::diff {

struct Row {
  std::string name;
  estimate::Change share;  // of the event, from 0 to 1
  // Means over the runs, in the event's unit.
  double before = 0, after = 0;
  bool significant = false;
};

struct Diff {
  // Those that changed most, in points of the whole, come first, or those that had most before.
  std::vector<Row> rows;
  // How likely it is by chance that a row which is called significant changed as much, at most; 0
  // where none is.
  double significant_chance = 0;
  // Any row whose share changed by this much would be significant in 95 of 100 cases.
  double smallest_detectable = 0;
};

// What rows are in the order of.
enum class RowOrder : uint8_t { kChange, kBefore };

struct CompareOptions {
  Weight weight = Weight::kSelf;
  RowOrder order = RowOrder::kChange;
  // The part of the rows called significant that may be so by chance.
  double false_discovery_rate = 0.01;
};

// Says of rows, of which all else is known, which are significant, and sorts them.
Diff Judged(std::vector<Row> rows, const CompareOptions& options);

// At least one run each. Rows with too few samples in all runs to tell anything are left out.
Diff Compare(std::span<const Run> before, std::span<const Run> after,
             const CompareOptions& options);

}  // namespace profiler::diff
