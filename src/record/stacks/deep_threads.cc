#include "src/record/stacks/deep_threads.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace profiler::record {
namespace {

using symbolize::ChainEnd;
using symbolize::StackWords;

constexpr uint64_t kUnknownEnd = UINT64_MAX, kPage = kStackPageBytes;
// At most as many threads as the map of the programs holds (maps.bpf.h).
constexpr size_t kMostThreads = 4096;
// Time in ns after which a thread without samples makes room for another one; and how long a thread
// is left whose stack cannot be read to its start.
constexpr uint64_t kLongAgo = 1'000'000'000, kPause = 1'000'000'000;
// Memory beyond the outermost frame that may be read, in bytes. The kernel reads it at each sample.
constexpr uint64_t kMostBehind = 65536;
// Bytes of a sample besides its stack, at most; a record has less than 64 KiB.
constexpr uint64_t kMostBesides = 8192;
// Addresses of user code are smaller on all architectures.
constexpr uint64_t kUserEnd = uint64_t{1} << 48;

}  // namespace

bool DeliveredStack::IsRecord(std::span<const std::byte> record) {
  StackRecordHeader header;
  if (record.size() < sizeof(header)) return false;
  std::memcpy(&header, record.data(), sizeof(header));
  return header.kind == kStackRecord;
}

void DeliveredStack::Take(uint32_t tid, std::span<const std::byte> record) {
  StackRecordHeader header;
  if (record.size() < sizeof(header)) return Clear();
  std::memcpy(&header, record.data(), sizeof(header));
  const bool goes_on = is_begun_ && tid == tid_ && header.sp == sp_ && header.from == words_.end();
  Clear();
  if (!goes_on) {
    tid_ = tid;
    sp_ = header.sp;
    words_.Begin(header.from);
    if (words_.start() != header.from) return;
  }
  if (!Add(record)) return;
  (header.state == kStackGoesOn ? is_begun_ : is_complete_) = true;
  state_ = static_cast<StackRecordState>(header.state);
}

// Adds the words of a record. Returns false if it is malformed.
bool DeliveredStack::Add(std::span<const std::byte> record) {
  StackRecordHeader header;
  std::memcpy(&header, record.data(), sizeof(header));
  record = record.subspan(sizeof(header));
  constexpr uint64_t kMostBytes = uint64_t{kMostStackPages} * kStackPageBytes;
  if (header.state > kStackTooDeep || header.count > kStackRecordRoom ||
      record.size() / sizeof(uint64_t) < header.count || header.to < header.from ||
      header.to - words_.start() > kMostBytes) {
    return false;
  }
  uint64_t page = header.to;  // no page yet
  uint64_t hole = header.to;
  for (uint32_t i = 0; i < header.count; ++i) {
    uint64_t entry = 0;
    std::memcpy(&entry, record.data() + i * sizeof(entry), sizeof(entry));
    const uint64_t index = entry >> kStackWordShift;
    const uint64_t word = entry & ((uint64_t{1} << kStackWordShift) - 1);
    if (index == kStackPageMark) {
      page = word;
      if (page < header.from || page >= header.to || page % kStackPageBytes != 0) return false;
    } else if (index == kStackHoleMark) {
      hole = word;
    } else if (index == kStackHoleEndMark) {
      if (hole > word || word >= header.to || !words_.AddHole(hole, word)) return false;
    } else if (index >= kStackPageWords || page == header.to ||
               !words_.Add(page + index * StackWords::kWord, word)) {
      return false;
    }
  }
  return words_.SetEnd(header.to);
}

void DeepThreads::Take(const Unwound& sample) {
  if (follower_ == nullptr) return;
  if (sample.chain.end == ChainEnd::kStackTooShort) return TakeCut(sample);
  if (threads_.empty()) return;
  const auto found = threads_.find(sample.tid);
  if (found == threads_.end()) return;
  Thread& thread = found->second;
  thread.seen = sample.time;
  if (!thread.is_followed) return;
  bool has_changed = thread.mappings != sample.space.generation();
  if (sample.words != nullptr && sample.chain.whole()) {
    const uint64_t outermost = sample.chain.frames.back().stack_pointer;
    if (thread.entry.end == kUnknownEnd ||
        (sample.words->end() > outermost && sample.words->end() - outermost > kMostBehind)) {
      thread.entry.end = (outermost + 2 * kPage) & ~(kPage - 1);
      has_changed = true;
    }
  }
  if (has_changed) Follow(sample, thread);
}

// Takes a chain whose stack was too short.
void DeepThreads::TakeCut(const Unwound& sample) {
  if (!sample.may_have_rest) return;
  auto found = threads_.find(sample.tid);
  if (found == threads_.end()) {
    if (threads_.size() >= kMostThreads) MakeRoom(sample.time);
    if (threads_.size() >= kMostThreads) return;
    found = threads_.try_emplace(sample.tid).first;
  }
  Thread& thread = found->second;
  thread.seen = sample.time;
  // Copies of full samples differ by the sizes of the samples' other contents.
  const uint64_t skip = sample.copied - std::min(sample.copied, kMostBesides);
  const bool needs_more = skip < thread.entry.skip;
  if (needs_more) thread.entry.skip = skip;
  // Reading the whole stack was of no use: it is too large, or damaged.
  if (sample.words != nullptr && sample.delivered->state() != kStackEnd && !needs_more) {
    thread.pause = sample.time + kPause;
    return Leave(sample.tid, thread);
  }
  if (sample.time < thread.pause) return;
  // The thread is on another stack, or this stack has a higher end than the last chain.
  const bool has_changed = std::exchange(thread.entry.end, kUnknownEnd) != kUnknownEnd ||
                           needs_more || thread.mappings != sample.space.generation();
  if (!thread.is_followed || has_changed) Follow(sample, thread);
}

void DeepThreads::Follow(const Unwound& sample, Thread& thread) {
  thread.mappings = sample.space.generation();
  SetCodeRanges(sample.space, &thread.entry);
  thread.is_followed = follower_->Follow(sample.tid, thread.entry);
  if (!thread.is_followed) thread.pause = sample.time + kPause;
}

void DeepThreads::Leave(uint32_t tid, Thread& thread) {
  if (std::exchange(thread.is_followed, false)) follower_->Leave(tid);
}

void DeepThreads::Ended(uint32_t tid) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return;
  Leave(tid, found->second);
  threads_.erase(found);
}

void DeepThreads::MakeRoom(uint64_t time) {
  for (auto at = threads_.begin(); at != threads_.end();) {
    const auto old = at++;
    if (old->second.seen > time || time - old->second.seen < kLongAgo) continue;
    Leave(old->first, old->second);
    threads_.erase(old);
  }
}

void SetCodeRanges(const symbolize::AddressSpace& space, FollowedThread* entry) {
  // The ranges are the mappings between the largest gaps.
  struct Gap {
    uint64_t size = 0, before = 0, after = 0;  // `before`: the end of the code before the gap
  };
  std::array<Gap, kMostCodeRanges - 1> gaps{};
  uint64_t first = 0, end = 0;
  for (const symbolize::Mapping& mapping : space.mappings()) {
    const uint64_t start = mapping.start.value;
    if (start >= kUserEnd) break;
    if (end == 0) {
      first = start;
    } else if (start - end > gaps.back().size) {
      gaps.back() = {start - end, end, start};
      std::ranges::sort(gaps, std::greater<>(), &Gap::size);
    }
    end = std::min(kUserEnd, start + std::min(mapping.size, kUserEnd));
  }
  std::ranges::sort(gaps, std::less<>(), &Gap::before);
  entry->all_code = {first, end - first};
  std::fill(std::begin(entry->code), std::end(entry->code), StackRange{});
  size_t count = 0;
  for (const Gap& gap : gaps) {
    if (gap.size == 0) continue;
    entry->code[count++] = {first, gap.before - first};
    first = gap.after;
  }
  entry->code[count] = {first, end - first};
}

}  // namespace profiler::record
