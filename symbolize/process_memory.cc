#include "symbolize/process_memory.h"

#include <time.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "src/base/clock.h"

namespace profiler::symbolize {

size_t ProcessMemory::ReadEach(std::span<const Piece> pieces) {
  size_t count = 0;
  while (count < pieces.size() && Read(pieces[count].address, pieces[count].bytes)) ++count;
  return count;
}

uint64_t ProcessMemory::Now() { return MonotonicNow(); }

void PagedMemory::Refresh() {
  Forget();
  ++round_;
  is_to_read_used_ = pages_ != nullptr;
}

bool PagedMemory::Read(uint64_t address, std::span<std::byte> bytes) {
  if (bytes.size() > kPage) return memory_.Read(address, bytes);
  while (!bytes.empty()) {
    const uint64_t at = address % kPage;
    const size_t size = std::min<uint64_t>(bytes.size(), kPage - at);
    const std::byte* const page = Find(address / kPage);
    if (page == nullptr) return memory_.Read(address, bytes);
    std::memcpy(bytes.data(), page + at, size);
    bytes = bytes.subspan(size);
    address += size;
  }
  return true;
}

// Hashes the page number. The areas of a virtual machine start at multiples of powers of two, so
// without hashing, the first pages of all areas would be in one set.
std::span<PagedMemory::Page> PagedMemory::SetOf(uint64_t number) {
  constexpr uint64_t kFibonacci = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
  const size_t set = (number * kFibonacci) >> (64 - std::countr_zero(kSets));
  return std::span(*pages_).subspan(set * kWays, kWays);
}

// Returns the slot that has the page, or else the least recently used slot of its set.
PagedMemory::Page& PagedMemory::PlaceOf(uint64_t number) {
  const std::span<Page> set = SetOf(number);
  const auto found = std::ranges::find(set, number, &Page::number);
  return found != set.end() ? *found : *std::ranges::min_element(set, {}, &Page::last);
}

// Returns the page's bytes; null if it cannot be read.
const std::byte* PagedMemory::Find(uint64_t number) {
  if (pages_ == nullptr) pages_ = std::make_unique<std::array<Page, kPages>>();
  if (std::exchange(is_to_read_used_, false)) ReadUsed();
  Page& page = PlaceOf(number);
  const bool is_here = page.number == number && page.look == look_;
  if (!is_here) {
    page.look = 0;
    if (!memory_.Read(number * kPage, page.bytes)) return nullptr;
    page.number = number;
    page.look = look_;
  }
  page.use = round_;
  page.last = ++asked_;
  return page.bytes.data();
}

// Reads the pages used in the last round. Stops at the first page that no longer exists.
void PagedMemory::ReadUsed() {
  std::array<Piece, kPages> pieces;
  std::array<Page*, kPages> pages;
  size_t count = 0;
  for (Page& page : *pages_) {
    if (page.look == 0 || page.use + 1 != round_) continue;
    page.look = 0;
    pieces[count] = {page.number * kPage, page.bytes};
    pages[count++] = &page;
  }
  const size_t read = memory_.ReadEach(std::span(pieces).first(count));
  for (Page* const page : std::span(pages).first(read)) page->look = look_;
}

}  // namespace profiler::symbolize
