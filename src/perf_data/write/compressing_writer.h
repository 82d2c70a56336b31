// Puts the records of another writer into COMPRESSED records (record_compressor.h).
//
// Round markers stay outside. The feature COMPRESSED tells perf how much a record may inflate to.
// It stands in front, as a record, in files too: so perf also reads what a killed recorder leaves.

#pragma once

#include <memory>

#include "src/base/status.h"
#include "src/perf_data/write/writer.h"

namespace profiler::perf_data {

// kInvalidArgument for a level that zstd does not have.
absl::StatusOr<std::unique_ptr<Writer>> CreateCompressingWriter(std::unique_ptr<Writer> writer,
                                                                int level);

}  // namespace profiler::perf_data
