#include "src/format/perf_data/read/inflating_source.h"

#include <zstd.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace profiler::perf_data {

void InflatingSource::Deleter::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

InflatingSource::InflatingSource(ChunkStore* chunks)
    : ByteSource(0), chunks_(chunks), context_(ZSTD_createDCtx()) {
  constexpr int kMaxWindowLog = 27;  // 128 MiB, for zstd's highest level
  if (context_ != nullptr) {
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  }
}

InflatingSource::~InflatingSource() = default;

void InflatingSource::Feed(std::span<const std::byte> compressed, uint64_t file_offset) {
  input_ = compressed;
  input_offset_ = file_offset;
  if (chunk_ != nullptr) NoteOrigin();
}

// Notes that the following bytes come from the record that was fed last.
void InflatingSource::NoteOrigin() {
  chunk_->origins.push_back({static_cast<size_t>(end_ - chunk_->data.get()), input_offset_, true});
}

void InflatingSource::StartChunk() {
  const size_t have = end_ - at_;
  Chunk* const next = chunks_->Allocate();
  if (have != 0) std::memcpy(next->data.get(), at_, have);
  if (chunk_ != nullptr) chunks_->Release(chunk_);
  chunk_ = next;
  at_ = chunk_->data.get();
  end_ = at_ + have;
  chunk_->origins.push_back({0, input_offset_, true});
}

bool InflatingSource::Skip(uint64_t size) {
  while (size > 0) {
    const uint64_t step = std::min<uint64_t>(size, Peek(1).size());
    if (step == 0) return false;
    Advance(step);
    size -= step;
  }
  return true;
}

void InflatingSource::Fill(size_t need) {
  if (context_ == nullptr) status_ = absl::ResourceExhaustedError("no memory for zstd");
  while (status_.ok() && static_cast<size_t>(end_ - at_) < need &&
         (!input_.empty() || output_pending_)) {
    if (chunk_ == nullptr || (at_ - chunk_->data.get()) + need > chunk_->capacity) StartChunk();
    std::byte* const out_begin = const_cast<std::byte*>(end_);
    ZSTD_outBuffer out = {out_begin,
                          chunk_->capacity - static_cast<size_t>(end_ - chunk_->data.get()), 0};
    ZSTD_inBuffer in = {input_.data(), input_.size(), 0};
    const size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(result)) {
      status_ = absl::DataLossError(absl::StrCat("zstd: ", ZSTD_getErrorName(result)));
      input_ = {};
      return;
    }
    input_ = input_.subspan(in.pos);
    end_ += out.pos;
    output_pending_ = out.pos == out.size && result != 0;
    if (in.pos == 0 && out.pos == 0) return;
  }
}

}  // namespace profiler::perf_data
