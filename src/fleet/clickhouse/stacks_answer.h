// Converts the answers to StacksStatements to windows. The answers are untrusted.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/query/source.h"
#include "src/fleet/segments/window.h"

namespace profiler::fleet::clickhouse {

struct StacksAnswer {
  std::string_view rows, stacks, windows;  // RowBinary
};

// Returns the windows, sorted by host and begin; none if there are no rows. Returns kDataLoss for a
// malformed answer. If rows refer to stacks or windows that the answer lacks, adds lines about that
// to `*notes`.
absl::StatusOr<std::vector<Window>> WindowsOf(const StacksAnswer& answer,
                                              const StacksQuestion& question,
                                              std::vector<std::string>* notes);

}  // namespace profiler::fleet::clickhouse
