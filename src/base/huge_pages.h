// Memory for tables that reach tens of megabytes and are looked up at random.
//
// In pages of 4 KiB such a table costs a fault for every page that is filled, and most look-ups
// wait for the page walk before they wait for the memory. So a HugeVector that is large enough
// lives in pages of 2 MiB. The kernel clears a page before it gives it, which is the dearest part
// of filling a table, so none is asked for twice: to grow is to move the pages to where there is
// more room, not their bytes, and what is freed goes to the next table that is made.
//
// On a virtual machine whose host takes back what is free, the host has to find the memory first,
// which makes a huge page 30 times as dear. It takes back large pieces only, so small pages mostly
// come from memory that is still there. So huge pages are timed as they come, and once one was dear
// no more are asked for.
//
// Sources: Documentation/admin-guide/mm/transhuge.rst, mm/page_reporting.c, mremap(2); Linux 6.18.
// Huge pages need "madvise" or "always" in /sys/kernel/mm/transparent_hugepage/enabled.

#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace profiler {

inline constexpr size_t kHugePage = size_t{2} << 20;

// To the next border of huge pages.
constexpr size_t RoundedToHugePages(size_t size) {
  return (size + kHugePage - 1) & ~(kHugePage - 1);
}

// Has what malloc gives lie in such pages, too, up to so many bytes: room for them is reserved. For
// who is about to fill many megabytes; to others the clearing of whole pages is dearer than it
// saves. Once in a process, by the thread that began it.
void UseHugePagesForHeap(size_t bytes);

// Uninitialized bytes. Not thread-safe, though others may be used at the same time.
class HugeBytes {
 public:
  // kSoon: any, and about to be written to the last one.
  enum class Fresh : uint8_t { kAny, kSoon, kZero };

  HugeBytes() = default;
  HugeBytes(HugeBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  HugeBytes& operator=(HugeBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~HugeBytes() { Free(); }

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

  // Keeps the bytes, which may move; `fresh` are those behind them. Room that is never reached
  // costs next to nothing. Throws std::bad_alloc.
  void Grow(size_t size, Fresh fresh = Fresh::kAny);

 private:
  static bool IsMapped(size_t size) { return size >= kHugePage; }
  void Free();

  std::byte* data_ = nullptr;
  size_t size_ = 0;  // whole huge pages, or less than one
};

// A vector of what can be copied as bytes. Room that is reserved and never reached costs next to
// nothing. Reading is thread-safe. Throws std::bad_alloc.
template <class T>
class HugeVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  HugeVector() = default;
  explicit HugeVector(size_t size) { resize(size); }
  HugeVector(size_t size, const T& value) { assign(size, value); }
  HugeVector(std::initializer_list<T> values) : HugeVector(values.begin(), values.end()) {}
  HugeVector(const T* begin, const T* end) {
    ReserveToFill(static_cast<size_t>(end - begin));
    for (; begin != end; ++begin) push_back(*begin);
  }
  HugeVector(HugeVector&& other) noexcept
      : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  HugeVector& operator=(HugeVector&& other) noexcept {
    HugeVector(std::move(other)).swap(*this);
    return *this;
  }
  HugeVector(const HugeVector& other) : HugeVector(other.begin(), other.end()) {}
  HugeVector& operator=(const HugeVector& other) {
    HugeVector(other).swap(*this);
    return *this;
  }

  // `size` elements whose bytes are all 0; their memory is found as they are written.
  static HugeVector Zeros(size_t size) {
    HugeVector zeros;
    zeros.Reserve(size, HugeBytes::Fresh::kZero);
    zeros.size_ = size;
    return zeros;
  }
  // The same number of zeros more. Only of a vector that was made of Zeros and had no more elements
  // than it has.
  void DoubleWithZeros() {
    Reserve(2 * size_, HugeBytes::Fresh::kZero);
    size_ *= 2;
  }

  size_t size() const { return size_; }
  size_t capacity() const { return bytes_.size() / sizeof(T); }
  bool empty() const { return size_ == 0; }
  T* data() { return reinterpret_cast<T*>(bytes_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(bytes_.data()); }
  T* begin() { return data(); }
  const T* begin() const { return data(); }
  T* end() { return data() + size_; }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void reserve(size_t size) { Reserve(size, HugeBytes::Fresh::kAny); }
  // For who is about to have so many: their pages come at once.
  void ReserveToFill(size_t size) { Reserve(size, HugeBytes::Fresh::kSoon); }
  void push_back(const T& value) {
    if (size_ == capacity()) [[unlikely]] {
      const T copy = value;  // it may be an element
      reserve(std::max<size_t>(16, 2 * size_));
      data()[size_++] = copy;
      return;
    }
    data()[size_++] = value;
  }
  void resize(size_t size) {
    ReserveToFill(size);
    for (; size_ < size; ++size_) data()[size_] = T{};
    size_ = size;
  }
  void assign(size_t size, const T& value) {
    ReserveToFill(size);
    std::fill_n(data(), size, value);
    size_ = size;
  }
  void clear() { size_ = 0; }
  void swap(HugeVector& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
  }

 private:
  void Reserve(size_t size, HugeBytes::Fresh fresh) {
    if (size > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    if (size > capacity()) bytes_.Grow(size * sizeof(T), fresh);
  }

  HugeBytes bytes_;
  size_t size_ = 0;
};

}  // namespace profiler
