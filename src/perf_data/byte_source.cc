#include "src/perf_data/byte_source.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14; EINVAL before
#endif

namespace profiler::perf_data {
namespace {

constexpr size_t kWindow = 2 << 20;
constexpr uintptr_t kPageSize = 4096;

void Populate(const std::byte* begin, const std::byte* end) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(begin) / kPageSize * kPageSize;
  madvise(reinterpret_cast<void*>(first), reinterpret_cast<uintptr_t>(end) - first,
          MADV_POPULATE_READ);
}

}  // namespace

MappedSource::MappedSource(std::span<const std::byte> file, uint64_t begin, uint64_t end)
    : ByteSource(begin), limit_(file.data() + std::min<uint64_t>(end, file.size())) {
  at_ = end_ = file.data() + std::min<uint64_t>(begin, limit_ - file.data());
}

void MappedSource::Fill(size_t need) {
  const size_t left = limit_ - end_;
  if (left == 0) return;
  const std::byte* const begin = end_;
  end_ += std::min(left, std::max(need, kWindow));
  Populate(begin, end_);
}

void StreamSource::Fill(size_t need) {
  const size_t have = end_ - at_;
  if (chunk_ == nullptr || (at_ - chunk_->data.get()) + need > chunk_->capacity) {
    Chunk* const next = chunks_->Allocate(need);
    next->origins.push_back({0, offset_, false});
    if (have != 0) std::memcpy(next->data.get(), at_, have);
    if (chunk_ != nullptr) chunks_->Release(chunk_);
    chunk_ = next;
    at_ = chunk_->data.get();
    end_ = at_ + have;
  }
  std::byte* const chunk_end = chunk_->data.get() + chunk_->capacity;
  while (static_cast<size_t>(end_ - at_) < need) {
    const ssize_t count = read(fd_, const_cast<std::byte*>(end_), chunk_end - end_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) status_ = ErrnoStatus(errno, name_);
    if (count <= 0) return;
    end_ += count;
  }
}

}  // namespace profiler::perf_data
