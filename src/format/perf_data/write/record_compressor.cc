#include "src/format/perf_data/write/record_compressor.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/format/perf_data/format/features_codec.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/codec.h"

namespace profiler::perf_data {
namespace {

constexpr size_t kMaxPlain = 32 << 10;  // uncompressed bytes in one record
constexpr size_t kBufferSize = 64 << 10;
static_assert(sizeof(perf_event::RecordHeader) + ZSTD_COMPRESSBOUND(kMaxPlain) <= kBufferSize);

// perf inflates a record into a buffer of this size.
constexpr uint32_t kMmapLen = 64 << 10;

}  // namespace

void RecordCompressor::Deleter::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

RecordCompressor::RecordCompressor(int level, bool swapped)
    : context_(ZSTD_createCCtx()), level_(level), swapped_(swapped), buffer_(kBufferSize) {
  if (context_ != nullptr) ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
}

absl::StatusOr<RecordCompressor> RecordCompressor::Create(int level, bool swapped) {
  if (level < 1 || level > ZSTD_maxCLevel()) {
    return absl::InvalidArgumentError(
        absl::StrCat("compression level ", level, " is not one of 1 to ", ZSTD_maxCLevel()));
  }
  RecordCompressor compressor(level, swapped);
  if (compressor.context_ == nullptr) return absl::ResourceExhaustedError("no memory for zstd");
  return compressor;
}

absl::Status RecordCompressor::Compress(
    std::span<const std::byte> plain,
    absl::FunctionRef<absl::Status(std::span<const std::byte>)> write) {
  while (!plain.empty()) {
    const std::span<const std::byte> some = plain.first(std::min(plain.size(), kMaxPlain));
    ZSTD_inBuffer in = {some.data(), some.size(), 0};
    ZSTD_outBuffer out = {buffer_.data() + sizeof(perf_event::RecordHeader),
                          buffer_.size() - sizeof(perf_event::RecordHeader), 0};
    const size_t left = ZSTD_compressStream2(context_.get(), &out, &in, ZSTD_e_flush);
    if (ZSTD_isError(left) || left != 0) {
      return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(left)));
    }
    perf_event::RecordHeader header = {
        perf_event::kRecordCompressed, 0,
        static_cast<uint16_t>(sizeof(perf_event::RecordHeader) + out.pos)};
    if (swapped_) header = perf_event::SwapHeader(header);
    std::memcpy(buffer_.data(), &header, sizeof(perf_event::RecordHeader));
    plain_ += some.size();
    packed_ += out.pos;
    PROFILER_RETURN_IF_ERROR(
        write(std::span(buffer_).first(sizeof(perf_event::RecordHeader) + out.pos)));
    plain = plain.subspan(some.size());
  }
  return absl::OkStatus();
}

std::string RecordCompressor::FeatureSection() const {
  const uint64_t ratio = packed_ == 0 ? 1 : (plain_ + packed_ / 2) / packed_;
  const Compression compression = {.level = static_cast<uint32_t>(level_),
                                   .ratio = static_cast<uint32_t>(ratio),
                                   .mmap_len = kMmapLen};
  return EncodeFields(compression, swapped_);
}

}  // namespace profiler::perf_data
