// Sorts rows by weight, then by their sort keys, then by address.
//
// A recording may have very many rows. Most rows are light and have the same weight as many others,
// so names decide their order. Therefore names are ranked once, and rows are sorted by integers
// only: one stable radix sort for each 32 bits of the key, from the least significant bits to the
// most significant ones.

#pragma once

#include <cstdint>
#include <span>

#include "src/base/huge_vector.h"
#include "src/profile/profile.h"
#include "src/views/report/function_table.h"
#include "src/views/report/hist_row.h"

namespace profiler::report {

struct RowsToOrder {
  std::span<const HistRow> rows;
  // [n]: periods of row n by mode; empty without HistOptions::modes
  std::span<const ModePeriods> modes;
  // For each row, its weights of all further events of the group
  std::span<const EventWeights> members;
};

// Returns indices into the rows, in the order shown. Rows without any difference keep their order.
// Linear in the rows, except for sorting their distinct names.
HugeVector<uint32_t> OrderOfRows(const RowsToOrder& rows, const profile::Profile& profile,
                                 const FunctionTable& functions, const HistOptions& options);

}  // namespace profiler::report
