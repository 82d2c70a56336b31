// Adds names to recordings that this process has written.

#pragma once

#include <string>

#include "src/base/status.h"
#include "src/format/perf_data/write/writer.h"
#include "src/profile/naming/collect_names.h"

namespace profiler::naming {

// Lines for the user about the names.
struct Embedded {
  std::string found;
  std::string missing;         // names that only the program could provide; may be empty
  std::string missing_python;  // names of Python that were not recorded; may be empty
};

// Reads the finished file again, looks its addresses up and appends their names. Uses the file that
// was written, even if `path` now names another one; `path` is only for messages. After an error
// the recorded data is unchanged. Returns kFailedPrecondition if the file cannot be read
// (Writer::readable_file).
absl::StatusOr<Embedded> EmbedNames(perf_data::Writer& file, const std::string& path,
                                    Embedding embedding, const NamingOptions& options,
                                    const NamingProgress& progress);
// Appends names that are already collected.
absl::StatusOr<Embedded> EmbedNames(perf_data::Writer& file, const CollectedNames& collected);

}  // namespace profiler::naming
