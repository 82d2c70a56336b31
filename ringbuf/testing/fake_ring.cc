#include "ringbuf/testing/fake_ring.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstring>

#include "ringbuf/raw_record.h"
#include "src/base/byte_reader.h"

namespace profiler::ringbuf {

std::vector<std::byte> MakeRecord(uint32_t type, std::span<const std::byte> body, uint16_t misc) {
  const size_t size = sizeof(RecordHeader) + (body.size() + 7) / 8 * 8;
  assert(size <= 0xffff);
  std::vector<std::byte> record(size);
  const RecordHeader header{type, misc, static_cast<uint16_t>(size)};
  std::memcpy(record.data(), &header, sizeof(header));
  if (!body.empty()) std::memcpy(record.data() + sizeof(header), body.data(), body.size());
  return record;
}

std::vector<std::byte> MakeRecord(uint32_t type, size_t body_size, uint8_t seed) {
  std::vector<std::byte> body(body_size);
  for (size_t i = 0; i < body_size; ++i) body[i] = static_cast<std::byte>(seed + i);
  return MakeRecord(type, body);
}

FakeRing::FakeRing(size_t data_size, uint64_t start, uint64_t event_id)
    : page_(std::make_unique<perf_event_mmap_page>()),
      data_(data_size),
      view_(page_.get(), data_),
      event_id_(event_id) {
  assert(data_size != 0 && (data_size & (data_size - 1)) == 0);
  page_->data_head = start;
  page_->data_tail = start;
}

uint64_t FakeRing::head() const {
  return std::atomic_ref<__u64>(page_->data_head).load(std::memory_order_relaxed);
}

uint64_t FakeRing::tail() const {
  // Point A of ring_view.h, pairs with D: the consumer has finished reading the bytes before tail.
  return std::atomic_ref<__u64>(page_->data_tail).load(std::memory_order_acquire);
}

void FakeRing::set_head(uint64_t head) {
  // Point B of ring_view.h, pairs with C: everything before head is written.
  std::atomic_ref<__u64>(page_->data_head).store(head, std::memory_order_release);
}

bool FakeRing::Publish(std::span<const std::byte> record) {
  std::vector<std::byte> lost_record;
  if (lost_ != 0) {
    const std::array<uint64_t, 2> id_and_count = {event_id_, lost_};
    const std::span<const std::byte> fixed = BytesOf(id_and_count);
    std::vector<std::byte> body(fixed.begin(), fixed.end());
    body.insert(body.end(), lost_sample_id_.begin(), lost_sample_id_.end());
    lost_record = MakeRecord(PERF_RECORD_LOST, body);
  }
  if (!HasRoom(lost_record.size() + record.size())) {
    ++lost_;
    return false;
  }
  lost_ = 0;
  set_head(CopyIn(CopyIn(head(), lost_record), record));
  return true;
}

void FakeRing::WriteRaw(std::span<const std::byte> bytes) { set_head(CopyIn(head(), bytes)); }

bool FakeRing::HasRoom(size_t size) const {
  return data_.size() - static_cast<size_t>(head() - tail()) - 1 >= size;
}

uint64_t FakeRing::CopyIn(uint64_t at, std::span<const std::byte> bytes) {
  if (bytes.empty()) return at;
  assert(bytes.size() <= data_.size());
  const size_t position = static_cast<size_t>(at & (data_.size() - 1));
  const size_t first = std::min(bytes.size(), data_.size() - position);
  std::memcpy(data_.data() + position, bytes.data(), first);
  std::memcpy(data_.data(), bytes.data() + first, bytes.size() - first);
  return at + bytes.size();
}

}  // namespace profiler::ringbuf
