// What can be done with a record's layout: read it, write it, measure it, turn its byte order
// round, find a field in it. A layout (record_fields.h, sample_fields.h) is a template over one of
// these; they share this vocabulary:
//
//   Value(name, field)                 one u16, u32 or u64
//   Count(name, n)                     a number that says how much follows: written as `n`; returns
//                                      what stands there
//   Words(name, n, array)              n u64s
//   Bytes(name, n, bytes)              n bytes without a byte order
//   Branches(name, n, bytes)           n branch entries of 24 bytes
//   Text(name, text, trailer)          characters up to a NUL, padded to 8, in front of a
//                                      trailer of that size
//   Padded(name, n, bytes, trailer)    n bytes, padded likewise
//   SkipTo(trailer)                    over fields that a newer kernel added, to the trailer
//   PeekWord(array)                    the next u64 without passing it: array[0]
//   PeekByte()                         the next byte without passing it; 0 when writing
//   misc()                             of the header
//
// Names are for people (record_text.cc prints them); to all of the Ios here they are nothing.
//
// Private to this package: include codec.h.

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "src/base/byte_reader.h"
#include "src/perf_event/field_name.h"
#include "src/perf_event/records.h"

namespace profiler::perf_event {

inline uint16_t SwapBytes(uint16_t value) { return __builtin_bswap16(value); }
inline uint32_t SwapBytes(uint32_t value) { return __builtin_bswap32(value); }
inline uint64_t SwapBytes(uint64_t value) { return __builtin_bswap64(value); }

// a × b, or the largest number: counts come from untrusted bytes.
inline uint64_t SaturatingProduct(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

inline constexpr size_t kBranchEntrySize = 24;

// Numbers and arrays from bytes; views point into them. Failure is sticky: see ByteReader.
class FieldReader {
 public:
  static constexpr bool kReads = true;

  FieldReader(std::span<const std::byte> body, uint16_t misc) : reader_(body), misc_(misc) {}

  uint16_t misc() const { return misc_; }
  bool ok() const { return reader_.ok(); }
  size_t remaining() const { return reader_.remaining(); }

  template <class T>
  void Value(FieldName, T& field) {
    field = reader_.Read<T>();
  }
  template <class T>
  T Count(FieldName, T) {
    return reader_.Read<T>();
  }
  void Words(FieldName, uint64_t count, U64Array& array) {
    std::span<const std::byte> bytes;
    Bytes("", SaturatingProduct(count, 8), bytes);
    array = U64Array(bytes);
  }
  void Bytes(FieldName, uint64_t size, std::span<const std::byte>& bytes) {
    bytes = reader_.ReadBytes(size);
  }
  void Branches(FieldName, uint64_t count, std::span<const std::byte>& bytes) {
    Bytes("", SaturatingProduct(count, kBranchEntrySize), bytes);
  }
  void Text(FieldName, std::string_view& text, size_t trailer) {
    const std::string_view padded = TextOf(UpTo(trailer));
    text = padded.substr(0, padded.find('\0'));
  }
  void Padded(FieldName, uint64_t size, std::span<const std::byte>& bytes, size_t trailer) {
    const std::span<const std::byte> padded = UpTo(trailer);
    if (padded.size() < size) return reader_.Fail();
    bytes = padded.first(size);
  }
  void SkipTo(size_t trailer) { UpTo(trailer); }
  uint64_t PeekWord(const U64Array&) const { return ByteReader(reader_).Read<uint64_t>(); }
  uint8_t PeekByte() const { return ByteReader(reader_).Read<uint8_t>(); }

 private:
  // The bytes from here to the trailer.
  std::span<const std::byte> UpTo(size_t trailer) {
    if (reader_.remaining() < trailer) {
      reader_.Fail();
      return {};
    }
    return reader_.ReadBytes(reader_.remaining() - trailer);
  }

  ByteReader reader_;
  uint16_t misc_;
};

// Adds up what FieldWriter will write. Counts may come from a record that could not be decoded, so
// the sum stops at kMost, far above the largest record.
class FieldSizer {
 public:
  static constexpr bool kReads = false;

  explicit FieldSizer(uint16_t misc) : misc_(misc) {}

  uint16_t misc() const { return misc_; }
  size_t size() const { return size_; }

  template <class T>
  void Value(FieldName, const T&) {
    Add(sizeof(T));
  }
  template <class T>
  T Count(FieldName, T count) {
    Add(sizeof(T));
    return count;
  }
  void Words(FieldName, uint64_t count, const U64Array&) { Add(SaturatingProduct(count, 8)); }
  void Bytes(FieldName, uint64_t size, std::span<const std::byte>) { Add(size); }
  void Branches(FieldName, uint64_t count, std::span<const std::byte>) {
    Add(SaturatingProduct(count, kBranchEntrySize));
  }
  void Text(FieldName name, std::string_view text, size_t) {
    Padded(name, uint64_t{text.size()} + 1, {}, 0);
  }
  void Padded(FieldName, uint64_t size, std::span<const std::byte>, size_t) {
    Add(size);
    size_ = RoundUp(size_);
  }
  void SkipTo(size_t) {}
  uint64_t PeekWord(const U64Array& array) const { return array.empty() ? 0 : array[0]; }
  uint8_t PeekByte() const { return 0; }

  static size_t RoundUp(size_t size) { return (size + 7) & ~size_t{7}; }

 private:
  static constexpr size_t kMost = size_t{1} << 32;

  void Add(uint64_t size) { size_ = size > kMost - size_ ? kMost : size_ + size; }

  size_t size_ = 0;
  uint16_t misc_;
};

// Writes into `body`, which is as large as FieldSizer said and all zeroes.
class FieldWriter {
 public:
  static constexpr bool kReads = false;

  FieldWriter(std::span<std::byte> body, uint16_t misc) : body_(body), misc_(misc) {}

  uint16_t misc() const { return misc_; }

  template <class T>
  void Value(FieldName, const T& field) {
    std::memcpy(body_.data() + offset_, &field, sizeof(T));
    offset_ += sizeof(T);
  }
  template <class T>
  T Count(FieldName, T count) {
    Value("", count);
    return count;
  }
  void Words(FieldName, uint64_t count, const U64Array& array) {
    Bytes("", count * 8, array.bytes());
  }
  void Bytes(FieldName, uint64_t size, std::span<const std::byte> bytes) {
    const size_t given = std::min<size_t>(size, bytes.size());
    if (given != 0) std::memcpy(body_.data() + offset_, bytes.data(), given);
    offset_ += size;
  }
  void Branches(FieldName, uint64_t count, std::span<const std::byte> bytes) {
    Bytes("", count * kBranchEntrySize, bytes);
  }
  void Text(FieldName, std::string_view text, size_t) {
    Bytes("", text.size(), BytesOfText(text));
    offset_ = FieldSizer::RoundUp(offset_ + 1);
  }
  void Padded(FieldName, uint64_t size, std::span<const std::byte> bytes, size_t) {
    Bytes("", size, bytes);
    offset_ = FieldSizer::RoundUp(offset_);
  }
  void SkipTo(size_t) {}
  uint64_t PeekWord(const U64Array& array) const { return array.empty() ? 0 : array[0]; }
  uint8_t PeekByte() const { return 0; }

 private:
  std::span<std::byte> body_;
  size_t offset_ = 0;
  uint16_t misc_;
};

// The bits of a branch entry's flags as a machine of the other byte order numbers them, widths in
// order from mispredicted to reserved. The kernel declares this bit-field once, so a big-endian
// compiler lays it out from the most significant bit on: turned as one u64, its fields stand in
// reverse order, each with its own bits in order.
inline uint64_t MirrorBranchFlags(uint64_t flags, bool from_native) {
  constexpr int kWidths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 31};
  uint64_t mirrored = 0;
  int low = 0;
  for (int width : kWidths) {
    const int high = 64 - low - width;
    const uint64_t mask = (1ull << width) - 1;
    const int from = from_native ? low : high;
    const int to = from_native ? high : low;
    mirrored |= ((flags >> from) & mask) << to;
    low += width;
  }
  return mirrored;
}

enum class SwapDirection { kToNative, kToForeign };

// Turns the byte order of every number in place and hands out native values, so that a layout finds
// its counts either way.
template <SwapDirection kDirection>
class FieldSwapper {
 public:
  static constexpr bool kReads = true;
  static constexpr bool kToNative = kDirection == SwapDirection::kToNative;

  FieldSwapper(std::span<std::byte> body, uint16_t misc) : body_(body), misc_(misc) {}

  uint16_t misc() const { return misc_; }
  bool ok() const { return ok_; }

  template <class T>
  void Value(FieldName, T& field) {
    std::byte* at = Take(sizeof(T));
    field = at == nullptr ? T{} : SwapAt<T>(at);
  }
  template <class T>
  T Count(FieldName, T) {
    T count;
    Value("", count);
    return count;
  }
  void Words(FieldName, uint64_t count, U64Array& array) {
    const uint64_t size = SaturatingProduct(count, 8);
    std::byte* at = Take(size);
    if (at == nullptr) return;
    for (uint64_t i = 0; i < size; i += 8) SwapAt<uint64_t>(at + i);
    array = U64Array({at, size});
  }
  void Bytes(FieldName, uint64_t size, std::span<const std::byte>& bytes) {
    std::byte* at = Take(size);
    if (at != nullptr) bytes = {at, size};
  }
  void Branches(FieldName, uint64_t count, std::span<const std::byte>& bytes) {
    const uint64_t size = SaturatingProduct(count, kBranchEntrySize);
    std::byte* at = Take(size);
    if (at == nullptr) return;
    for (uint64_t i = 0; i < size; i += kBranchEntrySize) {
      SwapAt<uint64_t>(at + i);
      SwapAt<uint64_t>(at + i + 8);
      SwapBranchFlags(at + i + 16);
    }
    bytes = {at, size};
  }
  void Text(FieldName, std::string_view&, size_t trailer) { SkipTo(trailer); }
  void Padded(FieldName, uint64_t, std::span<const std::byte>&, size_t trailer) { SkipTo(trailer); }
  void SkipTo(size_t trailer) {
    if (remaining() < trailer) {
      Fail();
    } else {
      offset_ = body_.size() - trailer;
    }
  }
  uint64_t PeekWord(const U64Array&) const {
    if (remaining() < 8) return 0;
    uint64_t word;
    std::memcpy(&word, body_.data() + offset_, 8);
    return kToNative ? SwapBytes(word) : word;
  }
  uint8_t PeekByte() const {
    return remaining() == 0 ? uint8_t{0} : std::to_integer<uint8_t>(body_[offset_]);
  }
  size_t remaining() const { return body_.size() - offset_; }

 private:
  void Fail() {
    ok_ = false;
    offset_ = body_.size();
  }

  std::byte* Take(uint64_t size) {
    if (remaining() < size) {
      Fail();
      return nullptr;
    }
    std::byte* at = body_.data() + offset_;
    offset_ += size;
    return at;
  }

  // The native value.
  template <class T>
  static T SwapAt(std::byte* at) {
    T before;
    std::memcpy(&before, at, sizeof(T));
    const T after = SwapBytes(before);
    std::memcpy(at, &after, sizeof(T));
    return kToNative ? after : before;
  }

  static void SwapBranchFlags(std::byte* at) {
    uint64_t flags;
    std::memcpy(&flags, at, 8);
    flags = kToNative ? MirrorBranchFlags(SwapBytes(flags), false)
                      : SwapBytes(MirrorBranchFlags(flags, true));
    std::memcpy(at, &flags, 8);
  }

  std::span<std::byte> body_;
  size_t offset_ = 0;
  bool ok_ = true;
  uint16_t misc_;
};

// Where one field of a layout is, known by its address in the record value that is passed through
// the layout. Good for the fields in front of the first variable one.
class FieldLocator : public FieldSizer {
 public:
  explicit FieldLocator(const void* wanted) : FieldSizer(0), wanted_(wanted) {}

  // Bytes from the layout's start to the field, -1 when it has none.
  int offset() const { return offset_; }

  template <class T>
  void Value(FieldName name, const T& field) {
    if (&field == wanted_ && offset_ < 0) offset_ = static_cast<int>(size());
    FieldSizer::Value(name, field);
  }

 private:
  const void* wanted_;
  int offset_ = -1;
};

}  // namespace profiler::perf_event
