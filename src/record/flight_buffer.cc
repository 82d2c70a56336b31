#include "src/record/flight_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/format/perf_event/abi.h"

namespace profiler::record {
namespace {

using ringbuf::RecordHeader;
using std::chrono::steady_clock;

// A walk over whole records in consecutive pieces. A record may continue in the next piece; its
// header does not, because sizes of records and of rings are multiples of 8.
class Walk {
 public:
  explicit Walk(std::span<const std::span<const std::byte>> pieces) : pieces_(pieces) {}

  // Reads the header of the next record. Returns false at the end.
  bool Next(RecordHeader* header) {
    while (!pieces_.empty() && offset_ == pieces_.front().size()) {
      pieces_ = pieces_.subspan(1);
      offset_ = 0;
    }
    if (pieces_.empty() || pieces_.front().size() - offset_ < sizeof(*header)) return false;
    std::memcpy(header, pieces_.front().data() + offset_, sizeof(*header));
    return header->size >= sizeof(*header);
  }
  // Returns the next bytes, at most `most`. Empty at the end.
  std::span<const std::byte> Take(size_t most) {
    while (!pieces_.empty() && offset_ == pieces_.front().size()) {
      pieces_ = pieces_.subspan(1);
      offset_ = 0;
    }
    if (pieces_.empty()) return {};
    const auto rest = pieces_.front().subspan(offset_);
    const auto taken = rest.first(std::min(most, rest.size()));
    offset_ += taken.size();
    return taken;
  }

 private:
  std::span<const std::span<const std::byte>> pieces_;
  size_t offset_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<FlightBuffer>> FlightBuffer::Create(
    const perf_event::RecordLayout& layout, const FlightLimits& limits,
    std::function<bool(uint32_t pid)> exists) {
  void* const arena = mmap(nullptr, limits.bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED) {
    return ErrnoStatus(errno, absl::StrCat("no memory for ", limits.bytes >> 20,
                                           " MiB of records; pass a smaller --flight-size"));
  }
  return std::unique_ptr<FlightBuffer>(new FlightBuffer(
      layout, limits, std::move(exists), std::span(static_cast<std::byte*>(arena), limits.bytes)));
}

FlightBuffer::FlightBuffer(const perf_event::RecordLayout& layout, const FlightLimits& limits,
                           std::function<bool(uint32_t pid)> exists, std::span<std::byte> arena)
    : limits_(limits),
      slice_bytes_(limits.bytes / kSlices),
      slice_time_(limits.time / kSlices),
      exists_(std::move(exists)),
      arena_(arena),
      what_ran_(layout) {}

FlightBuffer::~FlightBuffer() { munmap(arena_.data(), arena_.size()); }

void FlightBuffer::Observe(std::span<const std::byte> records) {
  ringbuf::RingBytes bytes;
  bytes.spans[0] = records;
  ringbuf::RecordCursor cursor(bytes, *bounce_);
  while (const auto record = cursor.Next()) what_ran_.Take(*record);
  what_ran_.EndPass();
}

bool FlightBuffer::Append(std::span<const std::span<const std::byte>> pieces, Time now) {
  Walk walk(pieces);
  RecordHeader header;
  bool has_completed = false;
  while (walk.Next(&header)) {
    if (is_open_ && end_ - slices_.back().begin + header.size > slice_bytes_) {
      is_open_ = false;
      has_completed = true;
    }
    MakeRoom(header.size);
    if (!is_open_) {
      slices_.push_back({.number = next_number_++, .begin = end_, .end = end_, .first = now});
      is_open_ = true;
    }
    for (size_t left = header.size; left > 0;) {
      const std::span<const std::byte> bytes = walk.Take(left);
      if (bytes.empty()) break;  // a record that is cut short, which the tally has refused
      Copy(bytes);
      left -= bytes.size();
    }
    Slice& slice = slices_.back();
    slice.end = end_;
    slice.last = now;
    if (header.type != perf_event::kRecordSample) continue;
    ++slice.samples;
    if (!on_sample_) continue;
    ringbuf::RecordCursor cursor(Bytes(end_ - header.size, end_), *bounce_);
    if (const auto record = cursor.Next()) on_sample_(*record);
  }
  if (!slices_.empty()) pass_ends_.push_back(end_);
  if (is_open_) {
    const Slice& slice = slices_.back();
    const bool is_long = slice_time_.count() != 0 && now - slice.first >= slice_time_;
    if (is_long) is_open_ = false;
    has_completed |= is_long;
  }
  if (limits_.time.count() != 0) {
    while (!dropped_.empty() && dropped_.front().last < now - 2 * limits_.time) {
      dropped_.pop_front();
    }
  }
  return has_completed;
}

void FlightBuffer::MakeRoom(size_t bytes) {
  while (!slices_.empty() && kept_bytes() + bytes > arena_.size()) {
    if (slices_.size() == 1) is_open_ = false;
    NoteDropped(slices_.front());
    DropFirst();
  }
}

// Keeps few sums, each of about a slice's time.
void FlightBuffer::NoteDropped(const Slice& slice) {
  constexpr size_t kMostSums = 4 * kSlices;
  const bool is_new = dropped_.empty() || slice.last - dropped_.back().first >= slice_time_;
  if (is_new && dropped_.size() < kMostSums) {
    dropped_.push_back(slice);
  } else {
    dropped_.back().samples += slice.samples;
    dropped_.back().last = slice.last;
  }
}

void FlightBuffer::DropBefore(Time time) {
  while (slices_.size() > (is_open_ ? 1 : 0) && slices_.front().last < time) DropFirst();
}

void FlightBuffer::DropFirst() {
  const Slice slice = slices_.front();
  if (on_drop_) on_drop_(slice);
  ringbuf::RecordCursor cursor(BytesOf(slice), *bounce_);
  uint64_t at = slice.begin;
  const auto end_passes = [&](uint64_t until) {
    for (; !pass_ends_.empty() && pass_ends_.front() <= until; pass_ends_.pop_front()) {
      what_ran_.EndPass();
    }
  };
  while (const auto record = cursor.Next()) {
    what_ran_.Take(*record);
    at += record->size();
    end_passes(at);
  }
  end_passes(slice.end);
  constexpr size_t kPartOfWhatRan = 4;
  forgotten_ += what_ran_.Trim(limits_.bytes / kPartOfWhatRan, slice.end, end_, exists_);
  slices_.pop_front();
}

void FlightBuffer::Copy(std::span<const std::byte> bytes) {
  const size_t at = end_ % arena_.size();
  const size_t before_seam = std::min(bytes.size(), arena_.size() - at);
  std::memcpy(arena_.data() + at, bytes.data(), before_seam);
  std::memcpy(arena_.data(), bytes.data() + before_seam, bytes.size() - before_seam);
  end_ += bytes.size();
}

ringbuf::RingBytes FlightBuffer::Bytes(uint64_t begin, uint64_t end) const {
  const size_t at = begin % arena_.size();
  const size_t size = end - begin;
  const size_t before_seam = std::min(size, arena_.size() - at);
  ringbuf::RingBytes bytes;
  bytes.spans[0] = arena_.subspan(at, before_seam);
  bytes.spans[1] = arena_.first(size - before_seam);
  return bytes;
}

double FlightBuffer::FilledFrom(uint64_t number) const {
  const auto first = std::find_if(slices_.begin(), slices_.end(),
                                  [number](const Slice& slice) { return slice.number >= number; });
  if (first == slices_.end()) return 0;
  return static_cast<double>(end_ - first->begin) / static_cast<double>(arena_.size());
}

void FlightBuffer::WriteWhatRan(std::vector<std::byte>* out) const {
  // Write applies all records that were taken, also those that have to wait for earlier ones of
  // other CPUs. So a copy writes.
  WhatRuns(what_ran_).Write(out);
}

FlightBuffer::Dropped FlightBuffer::DroppedSince(Time since) const {
  Dropped sum;
  for (const Slice& slice : dropped_) {
    if (slice.last < since) continue;
    sum.samples += slice.samples;
    sum.until = slice.last;
  }
  return sum;
}

}  // namespace profiler::record
