// Room for tables that are filled once and have tens of megabytes: asking the kernel for it page by
// page would cost more than filling it.

#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace profiler::report {

// Reserves room for `count` items, in huge pages where the kernel offers them and they are worth
// it. What is not reached of the room costs next to nothing.
template <class Item>
void ReserveHugePages(std::vector<Item>& items, size_t count) {
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  items.reserve(count);
  const auto start = reinterpret_cast<uintptr_t>(items.data());
  const uintptr_t first = (start + kHugePage - 1) & ~(kHugePage - 1);
  const uintptr_t end = (start + items.capacity() * sizeof(Item)) & ~(kHugePage - 1);
  // An advice: nothing is lost where it is not taken.
  if (items.data() != nullptr && first < end) {
    madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  }
}

}  // namespace profiler::report
