#include "src/base/huge_pages.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

namespace profiler {

// The heap proper is one piece of memory and grows by what is asked to be its spare room: then that
// room can be advised at once. Who may have so much memory and no more keeps it for what is needed.
void UseHugePagesForHeap(size_t bytes) {
  for (const auto limited : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit = {};
    if (getrlimit(limited, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return;
  }
  constexpr int kMostOfMallopt = 32 << 20;  // glibc takes no higher threshold
  bytes = std::min<size_t>(bytes, INT_MAX);
  mallopt(M_MMAP_THRESHOLD, kMostOfMallopt);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, static_cast<int>(bytes));
  const auto before = reinterpret_cast<uintptr_t>(sbrk(0));
  void* volatile const grown_by = std::malloc(kMostOfMallopt / 2);  // volatile: or no call is made
  std::free(grown_by);
  const auto after = reinterpret_cast<uintptr_t>(sbrk(0));
  mallopt(M_TOP_PAD, 0);
  const uintptr_t start = RoundedToHugePages(before);
  if (start < after) madvise(reinterpret_cast<void*>(start), after - start, MADV_HUGEPAGE);
}

void HugeBytes::Grow(size_t size) {
  if (size <= size_) return;
  if (size > SIZE_MAX / 2) throw std::bad_alloc();
  if (!IsMapped(size)) {
    void* const grown = std::realloc(data_, size);
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(grown);
    std::memset(data_ + size_, 0, size - size_);
    size_ = size;
    return;
  }
  size = RoundedToHugePages(size);
  std::byte* const grown = MapAligned(size);
  if (IsMapped(size_)) {
    if (mremap(data_, size_, size, MREMAP_MAYMOVE | MREMAP_FIXED, grown) == MAP_FAILED) {
      munmap(grown, size);
      throw std::bad_alloc();
    }
  } else if (size_ != 0) {
    std::memcpy(grown, data_, size_);
    std::free(data_);
  }
  data_ = grown;
  size_ = size;
}

// At a border of huge pages: one page more than needed is asked for, and what is before the border
// and behind the end goes back at once.
std::byte* HugeBytes::MapAligned(size_t size) {
  void* const got = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  const auto from = reinterpret_cast<uintptr_t>(got);
  const uintptr_t start = RoundedToHugePages(from);
  if (start != from) munmap(got, start - from);
  if (start - from != kHugePage) {
    munmap(reinterpret_cast<void*>(start + size), kHugePage - (start - from));
  }
  auto* const memory = reinterpret_cast<std::byte*>(start);
  madvise(memory, size, MADV_HUGEPAGE);  // an advice: nothing is lost where it is not taken
  return memory;
}

void HugeBytes::Free() {
  if (IsMapped(size_)) {
    munmap(data_, size_);
  } else {
    std::free(data_);
  }
}

}  // namespace profiler
