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

// Of memory that nobody has used yet. Both are advice: nothing is lost where it is not taken.
void AskForHugePages(std::byte* memory, size_t size) {
  constexpr int64_t kDear = 1'000'000;  // nanoseconds a page; to clear one takes 200 000
  static std::atomic<bool> are_dear = false;
  if (!are_dear) {
    madvise(memory, size, MADV_HUGEPAGE);
    const int64_t before = CpuNanoseconds();
    *const_cast<volatile std::byte*>(memory) = std::byte{0};
    are_dear = CpuNanoseconds() - before > kDear;
  }
  if (are_dear) madvise(memory, size, MADV_NOHUGEPAGE);
}

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
  if (start < after) AskForHugePages(reinterpret_cast<std::byte*>(start), after - start);
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
  size = RoundedToHugePages(size);
  std::byte* const grown = MapAligned(size);
  size_t filled = IsMapped(size_) ? size_ : 0;
  if (filled != 0 && !MovePages(data_, size_, grown)) {
    munmap(grown, size);
    throw std::bad_alloc();
  }
  if (fresh == Fresh::kAny) filled += Spare().MoveTo(grown + filled, size - filled);
  if (filled != size) AskForHugePages(grown + filled, size - filled);
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
