#include "src/base/huge_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace profiler {
namespace {

// A sanitizer finds accesses beyond blocks only if malloc(3) has allocated them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMaps = false;
#else
constexpr bool kMaps = true;
#endif

bool IsMapped(size_t size) { return kMaps && size >= kHugePage; }

// Maps `size` bytes, a multiple of kHugePage, at a multiple of kHugePage. Returns null if there is
// no room.
std::byte* MapAligned(size_t size, int protection) {
  if (size > SIZE_MAX - kHugePage) return nullptr;
  void* const mapped =
      mmap(nullptr, size + kHugePage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  const size_t before = (0 - reinterpret_cast<uintptr_t>(begin)) % kHugePage;
  if (before != 0) munmap(begin, before);
  if (before != kHugePage) munmap(begin + before + size, kHugePage - before);
  return begin + before;
}

HugeBlock Mapped(size_t size) {
  std::byte* const data = MapAligned(size, PROT_READ | PROT_WRITE);
  return data == nullptr ? HugeBlock() : HugeBlock{data, size};
}

// Enlarges a mapped block by moving its pages. The new place is aligned, too: pages that are not
// huge in both places would be mapped one by one.
HugeBlock Moved(HugeBlock block, size_t size) {
  if (mremap(block.data, block.size, size, 0) != MAP_FAILED) return {block.data, size};
  std::byte* const place = MapAligned(size, PROT_NONE);
  if (place == nullptr) return {};
  void* const moved = mremap(block.data, block.size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place);
  if (moved != MAP_FAILED) return {moved, size};
  munmap(place, size);
  return {};
}

size_t RoundedUp(size_t size) { return (size + kHugePage - 1) / kHugePage * kHugePage; }

}  // namespace

HugeBlock GrownBlock(HugeBlock block, size_t size) {
  if (size > PTRDIFF_MAX) return {};
  if (!IsMapped(size)) {
    void* const data = std::realloc(block.data, size);
    return data == nullptr ? HugeBlock() : HugeBlock{data, size};
  }
  size = RoundedUp(size);
  if (IsMapped(block.size)) return Moved(block, size);
  const HugeBlock grown = Mapped(size);
  if (grown.data == nullptr) return {};
  madvise(grown.data, grown.size, MADV_HUGEPAGE);
  if (block.size != 0) std::memcpy(grown.data, block.data, block.size);
  FreeBlock(block);
  return grown;
}

HugeBlock ZeroedBlock(size_t size) {
  if (size > PTRDIFF_MAX) return {};
  if (IsMapped(size)) return Mapped(RoundedUp(size));
  void* const data = std::calloc(size, 1);
  return data == nullptr ? HugeBlock() : HugeBlock{data, size};
}

void FreeBlock(HugeBlock block) {
  if (IsMapped(block.size)) {
    munmap(block.data, block.size);
  } else {
    std::free(block.data);
  }
}

}  // namespace profiler
