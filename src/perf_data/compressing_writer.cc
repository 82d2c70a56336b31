#include "src/perf_data/compressing_writer.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/perf_data/field_io.h"
#include "src/perf_data/perf_data_format.h"
#include "src/perf_data/stream_writer.h"
#include "src/perf_event/abi.h"
#include "src/perf_event/codec.h"

namespace profiler::perf_data {
namespace {

constexpr size_t kHeaderSize = sizeof(perf_event::RecordHeader);
constexpr size_t kMaxPlain = 32 << 10;  // in one record
constexpr size_t kBufferSize = 64 << 10;
static_assert(kHeaderSize + ZSTD_COMPRESSBOUND(kMaxPlain) <= kBufferSize);

// struct { u32 version, type, level, ratio, mmap_len; }; perf inflates a record into mmap_len
// bytes.
constexpr uint32_t kCompressedVersion = 1;
constexpr uint32_t kTypeZstd = 1;
constexpr uint32_t kMmapLen = 64 << 10;

class CompressingWriter final : public Writer {
 public:
  CompressingWriter(std::unique_ptr<Writer> writer, int level)
      : writer_(std::move(writer)),
        context_(ZSTD_createCCtx(), ZSTD_freeCCtx),
        level_(level),
        buffer_(kBufferSize) {
    if (context_ != nullptr) {
      ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    }
  }

  bool ok() const { return context_ != nullptr; }

  absl::Status AddIds(size_t event, std::span<const uint64_t> ids) override {
    return writer_->AddIds(event, ids);
  }

  absl::Status Append(std::span<const std::span<const std::byte>> pieces) override {
    for (std::span<const std::byte> piece : pieces) {
      while (!piece.empty()) {
        const std::span<const std::byte> some = piece.first(std::min(piece.size(), kMaxPlain));
        PROFILER_RETURN_IF_ERROR(AppendCompressed(some));
        piece = piece.subspan(some.size());
      }
    }
    return absl::OkStatus();
  }

  absl::Status FinishRound() override { return writer_->FinishRound(); }

  absl::Status Finish(const Features& features) override {
    Features with_compression = features;
    with_compression.other[kFeatureCompressed] = FeatureSection();
    return writer_->Finish(with_compression);
  }

  uint64_t bytes_written() const override { return writer_->bytes_written(); }

  absl::Status AppendFeatureInFront() {
    std::string record;
    AddFeatureRecord(kFeatureCompressed, FeatureSection(), &record);
    const std::span<const std::byte> piece = BytesOfText(record);
    return writer_->Append({&piece, 1});
  }

 private:
  std::string FeatureSection() const {
    const uint64_t ratio = packed_ == 0 ? 1 : (plain_ + packed_ / 2) / packed_;
    std::string section;
    FieldWriter writer(&section);
    writer.U32(kCompressedVersion);
    writer.U32(kTypeZstd);
    writer.U32(static_cast<uint32_t>(level_));
    writer.U32(static_cast<uint32_t>(ratio));
    writer.U32(kMmapLen);
    return section;
  }

  absl::Status AppendCompressed(std::span<const std::byte> plain) {
    ZSTD_inBuffer in = {plain.data(), plain.size(), 0};
    ZSTD_outBuffer out = {buffer_.data() + kHeaderSize, buffer_.size() - kHeaderSize, 0};
    const size_t left = ZSTD_compressStream2(context_.get(), &out, &in, ZSTD_e_flush);
    if (ZSTD_isError(left) || left != 0) {
      return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(left)));
    }
    const perf_event::RecordHeader header = {perf_event::kRecordCompressed, 0,
                                             static_cast<uint16_t>(kHeaderSize + out.pos)};
    std::memcpy(buffer_.data(), &header, kHeaderSize);
    plain_ += plain.size();
    packed_ += out.pos;
    const std::span<const std::byte> piece(buffer_.data(), kHeaderSize + out.pos);
    return writer_->Append({&piece, 1});
  }

  const std::unique_ptr<Writer> writer_;
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context_;
  const int level_;
  std::vector<std::byte> buffer_;
  uint64_t plain_ = 0, packed_ = 0;  // bytes
};

}  // namespace

absl::StatusOr<std::unique_ptr<Writer>> CreateCompressingWriter(std::unique_ptr<Writer> writer,
                                                                int level) {
  if (level < 1 || level > ZSTD_maxCLevel()) {
    return absl::InvalidArgumentError(
        absl::StrCat("compression level ", level, " is not one of 1 to ", ZSTD_maxCLevel()));
  }
  auto compressing = std::make_unique<CompressingWriter>(std::move(writer), level);
  if (!compressing->ok()) return absl::ResourceExhaustedError("no memory for zstd");
  PROFILER_RETURN_IF_ERROR(compressing->AppendFeatureInFront());
  return compressing;
}

}  // namespace profiler::perf_data
