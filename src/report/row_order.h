// The order in which rows are shown: by weight, then by their sort keys, then by address.
//
// A recording may have very many rows, and most of them are as light as many others, so that names
// decide. Names are therefore ranked once, and rows are sorted by integers alone: one stable radix
// sort for each 32 bits of the key, from the least significant to the most.

#pragma once

#include <cstdint>
#include <span>

#include "src/base/huge_vector.h"
#include "src/profile/profile.h"
#include "src/report/functions.h"
#include "src/report/hist_row.h"

namespace profiler::report {

struct RowsToOrder {
  std::span<const HistRow> rows;
  std::span<const ModePeriods> modes;     // of the rows; empty unless there are any
  std::span<const EventWeights> members;  // for each row, those of each further event of a group
};

// Indices into the rows as they are shown. Rows without any difference stay in their order. Linear
// in the rows, but for sorting their distinct names.
HugeVector<uint32_t> OrderOfRows(const RowsToOrder& rows, const profile::Profile& profile,
                                 const FunctionTable& functions, const HistOptions& options);

}  // namespace profiler::report
