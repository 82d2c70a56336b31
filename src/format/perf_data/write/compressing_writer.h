// Compresses the records of another writer into COMPRESSED records (record_compressor.h).
//
// Round markers are not compressed. The feature COMPRESSED tells perf the largest size of an
// inflated record. It comes first, as a record, even in files, so that perf can read the file of a
// killed recorder.

#pragma once

#include <memory>

#include "src/base/status.h"
#include "src/format/perf_data/write/writer.h"

namespace profiler::perf_data {

// Returns a writer that compresses and then uses `writer`. Error: kInvalidArgument for a level that
// zstd lacks.
absl::StatusOr<std::unique_ptr<Writer>> CreateCompressingWriter(std::unique_ptr<Writer> writer,
                                                                int level);

}  // namespace profiler::perf_data
