#include "tests/fuzz/heap_meter.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace profiler::fuzz {
namespace {

std::atomic<size_t> held = 0;
std::atomic<size_t> peak = 0;

void* Take(size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  const size_t now = held += malloc_usable_size(memory);
  size_t most = peak;
  while (now > most && !peak.compare_exchange_weak(most, now)) {
  }
  return memory;
}

void GiveBack(void* memory) {
  if (memory == nullptr) return;
  held -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

size_t PeakHeap() { return peak; }

size_t ResetPeakHeap() {
  const size_t now = held;
  peak = now;
  return now;
}

}  // namespace profiler::fuzz

void* operator new(size_t size) { return profiler::fuzz::Take(size); }
void* operator new[](size_t size) { return profiler::fuzz::Take(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return profiler::fuzz::Take(size);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return profiler::fuzz::Take(size);
}
void operator delete(void* memory) noexcept { profiler::fuzz::GiveBack(memory); }
void operator delete[](void* memory) noexcept { profiler::fuzz::GiveBack(memory); }
void operator delete(void* memory, size_t) noexcept { profiler::fuzz::GiveBack(memory); }
void operator delete[](void* memory, size_t) noexcept { profiler::fuzz::GiveBack(memory); }
