// A vector for tables of tens of megabytes, whose elements can be copied as bytes.
//
// To grow, a std::vector allocates memory of twice the size, copies its elements and frees the old
// memory. The kernel must clear the new memory page by page. A HugeVector moves the pages of a large
// block (mremap) and not its bytes, and has huge pages (huge_memory.h).
//
// Measured: user and system time of `profiler report -i FILE` and `profiler archive -i FILE -o
// OTHER`. FILE has 1.48 million samples of `perf record -a -F 25000 -g` and no stored sums. The
// table shows the minimum (median) of 14 runs of report and 6 of archive, alternating; Linux 6.18,
// glibc 2.36.
//
//   seconds            report         archive
//   HugeVector       1.36 (1.77)    1.91 (2.21)
//   as std::vector   1.53 (1.83)    2.12 (2.52)

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "src/base/huge_memory.h"

namespace profiler {

// A vector with the part of std::vector's interface that this program uses. Reading is thread-safe.
// Throws std::bad_alloc.
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
    reserve(static_cast<size_t>(end - begin));
    for (; begin != end; ++begin) push_back(*begin);
  }
  HugeVector(HugeVector&& other) noexcept
      : data_(std::move(other.data_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  HugeVector& operator=(HugeVector&& other) noexcept {
    HugeVector(std::move(other)).swap(*this);
    return *this;
  }
  HugeVector(const HugeVector& other) : HugeVector(other.begin(), other.end()) {}
  HugeVector& operator=(const HugeVector& other) {
    HugeVector(other).swap(*this);
    return *this;
  }

  // Returns `size` elements whose bytes are all 0. Pages that are never written take no memory.
  static HugeVector Zeros(size_t size) {
    HugeVector zeros;
    if (size == 0) return zeros;
    zeros.Own(ZeroedBlock(BytesOf(size)));
    zeros.size_ = size;
    return zeros;
  }

  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
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

  void reserve(size_t size) {
    if (size <= capacity_) return;
    const HugeBlock old =
        data_ == nullptr ? HugeBlock() : HugeBlock{data_.get(), data_.get_deleter().size};
    const HugeBlock grown = GrownBlock(old, BytesOf(size));
    if (grown.data == nullptr) throw std::bad_alloc();
    data_.release();
    Own(grown);
  }
  void push_back(const T& value) {
    if (size_ == capacity_) [[unlikely]] {
      const T copy = value;  // `value` may be an element of this vector
      reserve(std::max<size_t>(16, 2 * size_));
      data()[size_++] = copy;
      return;
    }
    data()[size_++] = value;
  }
  void resize(size_t size) {
    reserve(size);
    for (; size_ < size; ++size_) data()[size_] = T{};
    size_ = size;
  }
  void assign(size_t size, const T& value) {
    reserve(size);
    std::fill_n(data(), size, value);
    size_ = size;
  }
  void clear() { size_ = 0; }
  void swap(HugeVector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  struct Freed {
    size_t size = 0;  // bytes of the block
    void operator()(T* data) const { FreeBlock({data, size}); }
  };

  static size_t BytesOf(size_t size) {
    if (size > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    return size * sizeof(T);
  }
  void Own(HugeBlock block) {
    if (block.data == nullptr) throw std::bad_alloc();
    data_ = std::unique_ptr<T[], Freed>(static_cast<T*>(block.data), {block.size});
    capacity_ = block.size / sizeof(T);
  }

  std::unique_ptr<T[], Freed> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace profiler
