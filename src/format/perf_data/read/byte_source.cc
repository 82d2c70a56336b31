#include "src/format/perf_data/read/byte_source.h"

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

// Windows grow while they are read one after the other, because after a jump few bytes may be
// needed.
constexpr size_t kFirstWindow = 16 << 10, kWindow = 2 << 20;

void Populate(const std::byte* begin, const std::byte* end) {
  static const auto page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = reinterpret_cast<uintptr_t>(begin) / page_size * page_size;
  madvise(reinterpret_cast<void*>(first), reinterpret_cast<uintptr_t>(end) - first,
          MADV_POPULATE_READ);
}

}  // namespace

MappedSource::MappedSource(std::span<const std::byte> file, uint64_t begin, uint64_t end)
    : ByteSource(begin),
      limit_(file.data() + std::min<uint64_t>(end, file.size())),
      window_(kWindow) {
  at_ = end_ = file.data() + std::min<uint64_t>(begin, limit_ - file.data());
}

void MappedSource::Fill(size_t need) {
  const size_t left = limit_ - end_;
  if (left == 0) return;
  const std::byte* const begin = end_;
  end_ += std::min(left, std::max(need, window_));
  window_ = std::min(2 * window_, kWindow);
  Populate(begin, end_);
}

bool MappedSource::Skip(uint64_t size) {
  const uint64_t step = std::min<uint64_t>(size, limit_ - at_);
  at_ += step;
  if (at_ > end_) window_ = kFirstWindow;
  end_ = std::max(end_, at_);
  offset_ += step;
  return step == size;
}

std::span<const std::byte> MappedSource::TakePayload(uint64_t size) {
  if (size > static_cast<uint64_t>(limit_ - at_)) return {};
  const std::span<const std::byte> bytes(at_, size);
  Skip(size);
  return bytes;
}

// Reads skipped bytes into a small buffer, so that they need no chunks.
bool StreamSource::Skip(uint64_t size) {
  const size_t have = std::min<uint64_t>(size, end_ - at_);
  Advance(have);
  size -= have;
  std::byte buffer[16 << 10];
  while (size > 0) {
    size_t count = 0;
    if (!ReadInto(buffer, std::min<uint64_t>(size, sizeof(buffer)), &count)) return false;
    offset_ += count;
    size -= count;
    if (chunk_ != nullptr) {
      // The next byte that is read is at this later offset in the file.
      chunk_->origins.push_back({static_cast<size_t>(end_ - chunk_->data.get()), offset_, false});
    }
  }
  return true;
}

bool StreamSource::ReadInto(std::byte* data, size_t size, size_t* count) {
  ssize_t result;
  do {
    result = read(fd_, data, size);
  } while (result < 0 && errno == EINTR);
  if (result < 0) status_ = ErrnoStatus(errno, name_);
  if (result <= 0) return false;
  *count = result;
  return true;
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
    size_t count = 0;
    if (!ReadInto(const_cast<std::byte*>(end_), chunk_end - end_, &count)) return;
    end_ += count;
  }
}

}  // namespace profiler::perf_data
