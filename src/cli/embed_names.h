// Puts names into recordings that this process has written.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/naming/collect_names.h"

namespace profiler::cli {

// As perf_data::Writer::AppendSection.
using AppendSection = std::function<absl::Status(int bit, std::string_view section)>;

// Reads the file again, looks its addresses up and appends their names; what was found, in words.
// What was recorded is as it was after an error.
absl::StatusOr<std::string> EmbedNames(const std::string& path, naming::Embedding embedding,
                                       const naming::NamingOptions& options,
                                       const naming::NamingProgress& progress,
                                       const AppendSection& append);
// Names that were collected already.
absl::StatusOr<std::string> EmbedNames(const naming::CollectedNames& collected,
                                       const AppendSection& append);

}  // namespace profiler::cli
