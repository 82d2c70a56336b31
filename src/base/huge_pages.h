// Memory for tables that reach tens of megabytes and are looked up at random.
//
// In pages of 4 KiB such a table costs a fault for every page that is filled, and most look-ups
// wait for the page walk before they wait for the memory. HugeVector asks the kernel for pages of 2
// MiB as soon as it is large enough for them. Source: Documentation/admin-guide/mm/transhuge.rst,
// Linux 6.18; with "madvise" or "always" in /sys/kernel/mm/transparent_hugepage/enabled it gets
// them, otherwise it is an ordinary vector.

#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace profiler {

// Thread-safe as operator new is. Throws std::bad_alloc as it does.
template <class T>
class HugePageAllocator {
 public:
  using value_type = T;

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}  // NOLINT: allocators convert

  T* allocate(size_t count) {
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_array_new_length();
    const size_t size = count * sizeof(T);
    if (size < kHugePage) return static_cast<T*>(::operator new (size, std::align_val_t{kAlign}));
    // One page more than needed, so that a border of huge pages is in it; what is before the border
    // and behind the end goes back at once.
    const size_t kept = RoundedUp(size);
    void* got = mmap(nullptr, kept + kHugePage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) throw std::bad_alloc();
    const auto from = reinterpret_cast<uintptr_t>(got);
    const uintptr_t start = RoundedUp(from);
    if (start != from) munmap(got, start - from);
    if (start - from != kHugePage) {
      munmap(reinterpret_cast<void*>(start + kept), kHugePage - (start - from));
    }
    auto* memory = reinterpret_cast<T*>(start);
    madvise(memory, kept, MADV_HUGEPAGE);  // an advice: nothing is lost where it is not taken
    return memory;
  }

  void deallocate(T* memory, size_t count) {
    const size_t size = count * sizeof(T);
    if (size < kHugePage) return ::operator delete (memory, std::align_val_t{kAlign});
    munmap(memory, RoundedUp(size));
  }

  template <class U>
  bool operator==(const HugePageAllocator<U>&) const {
    return true;
  }

 private:
  static constexpr size_t kHugePage = size_t{2} << 20;
  static constexpr size_t kAlign = 64;  // cache lines
  static size_t RoundedUp(size_t size) { return (size + kHugePage - 1) & ~(kHugePage - 1); }
};

// Room that is reserved and never reached costs next to nothing.
template <class T>
using HugeVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace profiler
