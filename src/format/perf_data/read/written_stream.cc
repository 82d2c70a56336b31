#include "src/format/perf_data/read/written_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/format/perf_data/format/perf_data_format.h"

namespace profiler::perf_data {

// The written bytes that have not been walked over yet. Excludes the stream's header, which is not
// a record.
class WrittenStream::Source final : public ByteSource {
 public:
  explicit Source(ChunkStore* chunks) : ByteSource(0), chunks_(chunks) {}

  void Push(std::span<const std::span<const std::byte>> pieces) {
    size_t size = 0;
    for (const auto piece : pieces) size += piece.size();
    MakeRoom(size);
    for (const auto piece : pieces) room_ = std::ranges::copy(piece, room_).out;
    end_ = room_;
    if (offset() == 0) Skip(kPipeHeaderSize);
  }

  bool Skip(uint64_t size) override {
    const size_t step = std::min<uint64_t>(size, buffered().size());
    Advance(step);
    return step == size;
  }

 private:
  void Fill(size_t) override {}  // only Push adds bytes

  void MakeRoom(size_t size) {
    if (chunk_ != nullptr && size <= chunk_->capacity - (room_ - chunk_->data.get())) return;
    const std::span<const std::byte> left = buffered();
    Chunk* const next = chunks_->Allocate(left.size() + size);
    at_ = next->data.get();
    room_ = std::ranges::copy(left, next->data.get()).out;
    if (chunk_ != nullptr) chunks_->Release(chunk_);
    chunk_ = next;
  }

  ChunkStore* const chunks_;
  Chunk* chunk_ = nullptr;
  std::byte* room_ = nullptr;  // end of the pushed bytes in the chunk, where the next bytes go
};

WrittenStream::WrittenStream(std::function<void(const TimedRecord&)> visit)
    : visit_([visit = std::move(visit)](const TimedRecord& record) {
        visit(record);
        return true;
      }),
      source_(new Source(&chunks_)),
      walker_(std::unique_ptr<ByteSource>(source_), RecordWalker::Start::kOfRecords,
              /*swapped=*/false, &chunks_),
      pass_({.events = &events_,
             .features = &features_,
             .chunks = &chunks_,
             .files = &no_files_,
             .collected = &collected_},
            Recording::Order::kTime, visit_) {}

void WrittenStream::Take(std::span<const std::span<const std::byte>> pieces) {
  source_->Push(pieces);
  pass_.Run(walker_);
}

absl::Status WrittenStream::Finish() {
  pass_.Finish();
  return walker_.status();
}

}  // namespace profiler::perf_data
