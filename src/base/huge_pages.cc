#include "src/base/huge_pages.h"

#include <malloc.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <span>
#include <vector>

namespace profiler {
namespace {

int64_t CpuNanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

// Memory that nobody has used yet, and whether it is to come in huge pages. All is advice: nothing
// is lost where it is not taken. Thread-safe.
class FreshMemory {
 public:
  static FreshMemory& Instance() {
    static FreshMemory fresh;
    return fresh;
  }

  // The first `soon` bytes will be used at once, of which there is one at least.
  void Ask(std::byte* memory, size_t size, size_t soon) {
    if (!are_dear_) {
      madvise(memory, size, MADV_HUGEPAGE);
      for (size_t at = 0; at < soon && !are_dear_; at += kHugePage) Touch(memory + at);
    }
    if (!are_dear_) return;
    madvise(memory, size, MADV_NOHUGEPAGE);
    madvise(memory, soon, MADV_POPULATE_WRITE);
  }

  // As Ask, of what malloc gives from: in the midst of it, but free.
  void AskForHeap(std::byte* memory, size_t size) {
    constexpr size_t kSurely = 2 * kHugePage;
    Ask(memory, size, std::min(size, kSurely));
    heap_size_ = size;
    heap_ = memory;
  }

 private:
  void Touch(std::byte* page) {
    constexpr int64_t kDear = 1'000'000;  // nanoseconds; to clear a huge page takes 200 000
    const int64_t before = CpuNanoseconds();
    *const_cast<volatile std::byte*>(page) = std::byte{0};
    if (CpuNanoseconds() - before < kDear) return;
    are_dear_ = true;
    if (heap_ != nullptr) madvise(heap_, heap_size_, MADV_NOHUGEPAGE);
  }

  std::atomic<bool> are_dear_ = false;
  std::atomic<std::byte*> heap_ = nullptr;
  std::atomic<size_t> heap_size_ = 0;
};

// At a border of huge pages: one page more than needed is asked for, and what is before the border
// and behind the end goes back at once.
std::byte* MapAligned(size_t size) {
  void* const got = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  const auto from = reinterpret_cast<uintptr_t>(got);
  const uintptr_t start = RoundedToHugePages(from);
  if (start != from) munmap(got, start - from);
  if (start - from != kHugePage) {
    munmap(reinterpret_cast<void*>(start + size), kHugePage - (start - from));
  }
  return reinterpret_cast<std::byte*>(start);
}

// Whole huge pages, in place of what is mapped at `to`.
bool MovePages(std::byte* from, size_t size, std::byte* to) {
  return mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED;
}

// Pages that were freed and not yet needed again. Thread-safe.
class SparePages {
 public:
  ~SparePages() = delete;  // tables may outlive all that is static

  void Add(std::byte* data, size_t size) {
    const std::lock_guard lock(mutex_);
    if (size_ + size > kMost) {
      munmap(data, size);
      return;
    }
    spare_.push_back({data, size});
    size_ += size;
  }

  // Puts up to `size` bytes of them at `to`; returns how many.
  size_t MoveTo(std::byte* to, size_t size) {
    const std::lock_guard lock(mutex_);
    size_t moved = 0;
    while (moved < size && !spare_.empty()) {
      std::span<std::byte>& last = spare_.back();
      const size_t part = std::min(size - moved, last.size());
      if (!MovePages(last.data(), part, to + moved)) return moved;
      moved += part;
      size_ -= part;
      last = last.subspan(part);
      if (last.empty()) spare_.pop_back();
    }
    return moved;
  }

 private:
  static constexpr size_t kMost = size_t{64} << 20;  // bytes

  std::mutex mutex_;
  std::vector<std::span<std::byte>> spare_;
  size_t size_ = 0;
};

SparePages& Spare() {
  static auto* const spare = new SparePages;
  return *spare;
}

}  // namespace

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
  if (start < after) {
    FreshMemory::Instance().AskForHeap(reinterpret_cast<std::byte*>(start), after - start);
  }
}

void HugeBytes::Grow(size_t size, Fresh fresh) {
  if (size <= size_) return;
  if (size > SIZE_MAX / 2) throw std::bad_alloc();
  if (!IsMapped(size)) {
    void* const grown = std::realloc(data_, size);
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(grown);
    if (fresh == Fresh::kZero) std::memset(data_ + size_, 0, size - size_);
    size_ = size;
    return;
  }
  const size_t asked = size;
  size = RoundedToHugePages(size);
  std::byte* const grown = MapAligned(size);
  size_t filled = IsMapped(size_) ? size_ : 0;
  if (filled != 0 && !MovePages(data_, size_, grown)) {
    munmap(grown, size);
    throw std::bad_alloc();
  }
  if (fresh != Fresh::kZero) filled += Spare().MoveTo(grown + filled, size - filled);
  if (filled != size) {
    const bool all = fresh == Fresh::kSoon && filled < asked;
    FreshMemory::Instance().Ask(grown + filled, size - filled, all ? asked - filled : 1);
  }
  if (!IsMapped(size_) && size_ != 0) {
    std::memcpy(grown, data_, size_);
    std::free(data_);
  }
  data_ = grown;
  size_ = size;
}

void HugeBytes::Free() {
  if (IsMapped(size_)) {
    Spare().Add(data_, size_);
  } else {
    std::free(data_);
  }
}

}  // namespace profiler
