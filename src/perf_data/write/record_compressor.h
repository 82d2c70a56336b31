// Makes COMPRESSED records of records: one zstd stream, flushed at the end of each, so that nothing
// is held back.
//
//   { header (81) │ up to 32 KiB of records, compressed }   size is not a multiple of 8
//
// A record may span two of them.

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

// Not thread-safe. Allocates when it is made and never again.
class RecordCompressor {
 public:
  // `swapped`: the records are in the other byte order, and so are those made. kInvalidArgument for
  // a level that zstd does not have.
  static absl::StatusOr<RecordCompressor> Create(int level, bool swapped);

  // Hands the record of each 32 KiB of `plain` to `write`; ends at its first error.
  absl::Status Compress(std::span<const std::byte> plain,
                        absl::FunctionRef<absl::Status(std::span<const std::byte>)> write);

  // The feature COMPRESSED as it is up to now: level, ratio, and the size that perf inflates into.
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
  uint64_t plain_ = 0, packed_ = 0;  // bytes
};

}  // namespace profiler::perf_data
