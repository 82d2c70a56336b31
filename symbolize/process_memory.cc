#include "symbolize/process_memory.h"

#include <algorithm>
#include <cstring>

namespace profiler::symbolize {

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

// Null where it cannot be read.
const std::byte* PagedMemory::Find(uint64_t number) {
  if (pages_ == nullptr) pages_ = std::make_unique<std::array<Page, kPages>>();
  Page& page = (*pages_)[number % kPages];
  if (page.number == number && page.look == look_) return page.bytes.data();
  page.look = 0;
  if (!memory_.Read(number * kPage, page.bytes)) return nullptr;
  page.number = number;
  page.look = look_;
  return page.bytes.data();
}

}  // namespace profiler::symbolize
