// Puts names into recordings that this process has written.

#pragma once

#include <string>

#include "src/base/status.h"
#include "src/naming/collect_names.h"
#include "src/perf_data/write/writer.h"

namespace profiler::cli {

// What a user is told of it, each in a line.
struct Embedded {
  std::string found;
  std::string missing;  // names that the program would have to give, and how; empty: none
};

// Reads the finished file again, looks its addresses up and appends their names. The file is the
// one that was written, whatever `path` means by now: that is for messages. What was recorded is as
// it was after an error. kFailedPrecondition where it cannot be read (Writer::readable_file).
absl::StatusOr<Embedded> EmbedNames(perf_data::Writer& file, const std::string& path,
                                    naming::Embedding embedding,
                                    const naming::NamingOptions& options,
                                    const naming::NamingProgress& progress);
// Names that were collected already.
absl::StatusOr<Embedded> EmbedNames(perf_data::Writer& file,
                                    const naming::CollectedNames& collected);

}  // namespace profiler::cli
