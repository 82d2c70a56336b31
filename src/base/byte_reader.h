// Reads fixed-size values from untrusted bytes. Failure is sticky: a read past the end returns
// zeroes and clears ok() for good, so a layout can be read as a plain list with one check at its
// end.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace profiler {

// A reader of values in native byte order. The bytes must outlive it. Not thread-safe; copies are
// independent.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t offset() const { return offset_; }
  size_t remaining() const { return bytes_.size() - offset_; }

  // Marks the input as bad, for example because of an impossible value.
  void Fail() {
    ok_ = false;
    offset_ = bytes_.size();
  }

  template <class T>
  T Read() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (remaining() < sizeof(T)) {
      Fail();
      return value;
    }
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

  // Returns the next `size` bytes. If there are fewer, returns none and fails.
  std::span<const std::byte> ReadBytes(size_t size) {
    if (remaining() < size) {
      Fail();
      return {};
    }
    std::span<const std::byte> bytes = bytes_.subspan(offset_, size);
    offset_ += size;
    return bytes;
  }

  void Skip(size_t size) { ReadBytes(size); }

  // Returns the bytes before the next NUL and consumes the NUL. Fails if there is none.
  std::string_view ReadCString() {
    const void* start = bytes_.data() + offset_;
    const void* nul = remaining() == 0 ? nullptr : std::memchr(start, 0, remaining());
    if (nul == nullptr) {
      Fail();
      return {};
    }
    const char* text = static_cast<const char*>(start);
    std::string_view view(text, static_cast<const char*>(nul) - text);
    offset_ += view.size() + 1;
    return view;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t offset_ = 0;
  bool ok_ = true;
};

// Return the bytes of a trivially copyable value or of a string.
template <class T>
requires std::is_trivially_copyable_v<T> std::span<const std::byte> BytesOf(const T& value) {
  return {reinterpret_cast<const std::byte*>(&value), sizeof(T)};
}
inline std::span<const std::byte> BytesOfText(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace profiler
