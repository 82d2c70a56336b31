// Finds functions, lines or paths whose share differs significantly between two recordings, or
// between two groups of them.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/analysis/estimate/change.h"
#include "src/views/diff/run.h"

namespace profiler::diff {

struct Row {
  std::string name;
  estimate::Change share;  // share of the event, from 0 to 1
  // Means over the runs, in the event's unit.
  double before = 0, after = 0;
  bool significant = false;
};

struct Diff {
  // Sorted by change in percentage points, or by share before (CompareOptions::order).
  std::vector<Row> rows;
  // Largest p-value among the significant rows. (A p-value is the probability of such a change if
  // nothing differs.) 0 if no row is significant.
  double significant_chance = 0;
  // A change of any row's share by this much would be significant in 95 of 100 cases.
  double smallest_detectable = 0;
};

// Order of rows: by size of the change, or by share before.
enum class RowOrder : uint8_t { kChange, kBefore };

struct CompareOptions {
  Weight weight = Weight::kSelf;
  RowOrder order = RowOrder::kChange;
  // Largest accepted share of false alarms among the significant rows.
  double false_discovery_rate = 0.01;
};

// Decides which rows are significant, and sorts them. In `rows`, all fields except Row::significant
// must be set.
Diff Judged(std::vector<Row> rows, const CompareOptions& options);

// Compares two groups of at least one run each. Leaves out rows with fewer than kFewestSamples
// samples in all runs together.
Diff Compare(std::span<const Run> before, std::span<const Run> after,
             const CompareOptions& options);

}  // namespace profiler::diff
