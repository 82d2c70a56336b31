// Reads and writes the fields of headers and feature sections, in either byte order.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "src/base/byte_reader.h"
#include "src/format/perf_data/format/perf_data_format.h"

namespace profiler::perf_data {

template <class T>
T SwapBytes(T value) {
  static_assert(std::is_integral_v<T>);
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(value));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(value));
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(value));
  return value;
}

// A ByteReader for input in either byte order. Failure is sticky, see ByteReader.
class FieldReader {
 public:
  FieldReader(std::span<const std::byte> bytes, bool swapped) : reader_(bytes), swapped_(swapped) {}

  bool ok() const { return reader_.ok(); }
  size_t offset() const { return reader_.offset(); }
  size_t remaining() const { return reader_.remaining(); }
  bool swapped() const { return swapped_; }
  void Fail() { reader_.Fail(); }

  template <class T>
  T Read() {
    const T value = reader_.Read<T>();
    return swapped_ ? SwapBytes(value) : value;
  }
  uint32_t U32() { return Read<uint32_t>(); }
  uint64_t U64() { return Read<uint64_t>(); }
  FileSection Section() {
    FileSection section;
    section.offset = U64();
    section.size = U64();
    return section;
  }
  template <class... T>
  void Fields(T&... values) {
    ((values = Read<T>()), ...);
  }
  std::span<const std::byte> Bytes(size_t size) { return reader_.ReadBytes(size); }

  // Reads perf_header_string { u32 len; char string[len]; } and returns the text before the first
  // NUL.
  std::string String() {
    const std::string_view padded = TextOf(reader_.ReadBytes(U32()));
    return std::string(padded.substr(0, padded.find('\0')));
  }

 private:
  ByteReader reader_;
  bool swapped_;
};

// A writer that appends fields, in the other byte order if `swapped` is true.
class FieldWriter {
 public:
  explicit FieldWriter(std::string* out, bool swapped = false) : out_(out), swapped_(swapped) {}

  template <class T>
  void Write(T value) {
    if (swapped_) value = SwapBytes(value);
    out_->append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void U32(uint32_t value) { Write(value); }
  void U64(uint64_t value) { Write(value); }
  template <class... T>
  void Fields(T... values) {
    (Write(values), ...);
  }
  void Section(const FileSection& section) {
    U64(section.offset);
    U64(section.size);
  }
  void Text(std::string_view text) { out_->append(text); }
  void Zeroes(size_t count) { out_->append(count, '\0'); }

  // Writes a perf_header_string, padded as perf pads it.
  void String(std::string_view text) {
    const size_t padded = PaddedName(text);
    U32(static_cast<uint32_t>(padded));
    Text(text);
    Zeroes(padded - text.size());
  }

  // Returns the size of the text and its NUL, rounded up to a multiple of kNameAlign.
  static size_t PaddedName(std::string_view text) {
    return (text.size() + kNameAlign) / kNameAlign * kNameAlign;
  }

 private:
  std::string* out_;
  bool swapped_;
};

}  // namespace profiler::perf_data
