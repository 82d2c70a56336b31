#include "src/format/perf_data/write/compressing_writer.h"

#include <string>
#include <utility>

#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/write/record_compressor.h"
#include "src/format/perf_data/write/stream_writer.h"

namespace profiler::perf_data {
namespace {

class CompressingWriter final : public Writer {
 public:
  CompressingWriter(std::unique_ptr<Writer> writer, RecordCompressor compressor)
      : writer_(std::move(writer)), compressor_(std::move(compressor)) {}

  absl::Status AddIds(size_t event, std::span<const uint64_t> ids) override {
    return writer_->AddIds(event, ids);
  }

  absl::Status Append(std::span<const std::span<const std::byte>> pieces) override {
    for (const std::span<const std::byte> piece : pieces) {
      PROFILER_RETURN_IF_ERROR(
          compressor_.Compress(piece, [this](std::span<const std::byte> record) {
            return writer_->Append({&record, 1});
          }));
    }
    return absl::OkStatus();
  }

  absl::Status FinishRound() override { return writer_->FinishRound(); }

  absl::Status Finish(const Features& features) override {
    Features with_compression = features;
    with_compression.other[kFeatureCompressed] = compressor_.FeatureSection();
    return writer_->Finish(with_compression);
  }

  absl::Status AppendSection(int bit, std::string_view section) override {
    return writer_->AppendSection(bit, section);
  }

  int readable_file() const override { return writer_->readable_file(); }

  uint64_t bytes_written() const override { return writer_->bytes_written(); }

  absl::Status AppendFeatureInFront() {
    std::string record;
    AddFeatureRecord(kFeatureCompressed, compressor_.FeatureSection(), false, &record);
    const std::span<const std::byte> piece = BytesOfText(record);
    return writer_->Append({&piece, 1});
  }

 private:
  const std::unique_ptr<Writer> writer_;
  RecordCompressor compressor_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Writer>> CreateCompressingWriter(std::unique_ptr<Writer> writer,
                                                                int level) {
  PROFILER_ASSIGN_OR_RETURN(RecordCompressor compressor, RecordCompressor::Create(level, false));
  auto compressing = std::make_unique<CompressingWriter>(std::move(writer), std::move(compressor));
  PROFILER_RETURN_IF_ERROR(compressing->AppendFeatureInFront());
  return compressing;
}

}  // namespace profiler::perf_data
