// The answers to StacksStatements as windows. They are a server's, and not believed.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/query/source.h"
#include "src/fleet/window.h"

namespace profiler::fleet::clickhouse {

struct StacksAnswer {
  std::string_view rows, stacks, windows;  // RowBinary
};

// By host and begin; none where there are no rows. kDataLoss for what is no such answer. What the
// rows refer to and is not there is a line of `*notes`.
absl::StatusOr<std::vector<Window>> WindowsOf(const StacksAnswer& answer,
                                              const StacksQuestion& question,
                                              std::vector<std::string>* notes);

}  // namespace profiler::fleet::clickhouse
