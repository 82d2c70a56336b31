// Compresses records into COMPRESSED records, which form one zstd stream. The stream is flushed at
// the end of each COMPRESSED record, so that no data is held back.
//
//   { header (81) │ up to 32 KiB of records, compressed }   size is not a multiple of 8
//
// A record may span two COMPRESSED records.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/base/status.h"

struct ZSTD_CCtx_s;

namespace profiler::perf_data {

// A compressor of one stream of records. Not thread-safe. Allocates only in Create.
class RecordCompressor {
 public:
  // `swapped`: the records, and therefore the COMPRESSED records, are in the other byte order.
  // Error: kInvalidArgument for a level that zstd lacks.
  static absl::StatusOr<RecordCompressor> Create(int level, bool swapped);

  // Passes a COMPRESSED record for each 32 KiB of `plain` to `write`. Stops when `write` returns an
  // error, and returns that error.
  absl::Status Compress(std::span<const std::byte> plain,
                        absl::FunctionRef<absl::Status(std::span<const std::byte>)> write);

  // Returns the current content of the feature COMPRESSED: level, ratio, and the size of perf's
  // inflation buffer.
  std::string FeatureSection() const;

 private:
  struct Deleter {
    void operator()(ZSTD_CCtx_s* context) const;
  };

  RecordCompressor(int level, bool swapped);

  std::unique_ptr<ZSTD_CCtx_s, Deleter> context_;
  int level_;
  bool swapped_;
  std::vector<std::byte> buffer_;
  uint64_t plain_ = 0, packed_ = 0;  // total bytes before and after compression
};

}  // namespace profiler::perf_data
