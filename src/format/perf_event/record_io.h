// Operations on a record's layout: read it, write it, measure it, swap its byte order, locate a
// field in it. A layout (record_fields.h, sample_fields.h) is a template over one of these classes,
// which have the same functions:
//
//   Value(name, field)                 one u16, u32 or u64
//   Count(name, n)                     the number of following elements: writes `n`; returns the
//                                      number in the record
//   Words(name, n, array)              n u64s
//   Bytes(name, n, bytes)              n bytes without a byte order
//   Branches(name, n, bytes)           n branch entries of 24 bytes
//   Text(name, text, trailer)          characters up to a NUL, padded to 8 bytes, before a trailer
//                                      of that size
//   Padded(name, n, bytes, trailer)    n bytes, padded to 8 bytes, before a trailer of that size
//   SkipTo(trailer)                    skips fields that a newer kernel added before the trailer
//   PeekWord(array)                    returns the next u64 without consuming it: array[0]
//   PeekByte(at)                       returns one of the next bytes without consuming it; 0 when
//                                      writing
//   misc()                             misc of the record's header
//
// Names are for people (record_text.cc prints them); the classes here ignore them.
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

#include "ringbuf/raw_record.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_event/field_name.h"
#include "src/format/perf_event/records.h"

namespace profiler::perf_event {

inline uint16_t SwapBytes(uint16_t value) { return __builtin_bswap16(value); }
inline uint32_t SwapBytes(uint32_t value) { return __builtin_bswap32(value); }
inline uint64_t SwapBytes(uint64_t value) { return __builtin_bswap64(value); }

// Returns a × b, or the largest number if that overflows, because counts come from untrusted bytes.
inline uint64_t SaturatingProduct(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

inline constexpr size_t kBranchEntrySize = 24;

// A reader of a record's fields; views point into the record. Bytes without byte order come from
// the record's opaque image, at the same offset. Failure is sticky, as in ByteReader.
class FieldReader {
 public:
  static constexpr bool kReads = true;

  explicit FieldReader(ringbuf::RawRecord record)
      : reader_(record.numbers().subspan(sizeof(ringbuf::RecordHeader))),
        opaque_(record.opaque().data() + sizeof(ringbuf::RecordHeader)),
        misc_(record.misc()) {}

  uint16_t misc() const { return misc_; }
  bool ok() const { return reader_.ok(); }
  size_t remaining() const { return reader_.remaining(); }
  // Consumes the next `size` bytes and returns them. If there are fewer, fails and returns null.
  const std::byte* Front(size_t size) { return reader_.ReadBytes(size).data(); }

  template <class T>
  void Value(FieldName, T& field) {
    field = reader_.Read<T>();
  }
  template <class T>
  T Count(FieldName, T) {
    return reader_.Read<T>();
  }
  void Words(FieldName, uint64_t count, U64Array& array) {
    array = U64Array(reader_.ReadBytes(SaturatingProduct(count, 8)));
  }
  void Bytes(FieldName, uint64_t size, std::span<const std::byte>& bytes) { bytes = Opaque(size); }
  void Branches(FieldName, uint64_t count, std::span<const std::byte>& bytes) {
    bytes = reader_.ReadBytes(SaturatingProduct(count, kBranchEntrySize));
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
  uint8_t PeekByte(size_t at) const {
    return remaining() <= at ? uint8_t{0}
                             : std::to_integer<uint8_t>(opaque_[reader_.offset() + at]);
  }

 private:
  // Consumes the next `size` bytes of the opaque image. If there are fewer, fails and returns none.
  std::span<const std::byte> Opaque(uint64_t size) {
    const std::byte* const at = opaque_ + reader_.offset();
    return {at, reader_.ReadBytes(size).size()};
  }

  // Consumes the bytes before the trailer.
  std::span<const std::byte> UpTo(size_t trailer) {
    if (reader_.remaining() < trailer) {
      reader_.Fail();
      return {};
    }
    return Opaque(reader_.remaining() - trailer);
  }

  ByteReader reader_;
  const std::byte* opaque_;
  uint16_t misc_;
};

// A reader of numbers that does not check whether the bytes exist; the caller has checked that.
class PlainReader {
 public:
  explicit PlainReader(const std::byte* at) : at_(at) {}

  template <class T>
  void Value(FieldName, T& field) {
    std::memcpy(&field, at_, sizeof(T));
    at_ += sizeof(T);
  }

 private:
  const std::byte* at_;
};

// A counter of the bytes that FieldWriter will write. Counts may come from a record that could not
// be decoded, so the sum stops at kMost, far above the largest record.
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
  uint8_t PeekByte(size_t) const { return 0; }

  static size_t RoundUp(size_t size) { return (size + 7) & ~size_t{7}; }

 private:
  static constexpr size_t kMost = size_t{1} << 32;

  void Add(uint64_t size) { size_ = size > kMost - size_ ? kMost : size_ + size; }

  size_t size_ = 0;
  uint16_t misc_;
};

// A writer into `body`, which must have the size that FieldSizer computed and be filled with
// zeroes.
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
  uint8_t PeekByte(size_t) const { return 0; }

 private:
  std::span<std::byte> body_;
  size_t offset_ = 0;
  uint16_t misc_;
};

// Renumbers the bits of a branch entry's flags between the two byte orders. kWidths are the widths
// of the fields from mispredicted to reserved. The kernel declares this bit-field once, so a
// big-endian compiler lays it out from the most significant bit on. In the byte-swapped u64 the
// fields are therefore in reverse order, but the bits within each field keep their order.
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

// A converter of a record's byte order. Its functions return native values, so that a layout can
// use counts in both directions. The swapped number is written at the same offset of `to`, which
// may be the record itself. Bytes without byte order are neither read nor written.
template <SwapDirection kDirection>
class FieldSwapper {
 public:
  static constexpr bool kReads = true;
  static constexpr bool kToNative = kDirection == SwapDirection::kToNative;

  // `to` is as large as `body`; null to follow the layout without writing.
  FieldSwapper(std::span<const std::byte> body, std::byte* to, uint16_t misc)
      : body_(body), to_(to), misc_(misc) {}

  uint16_t misc() const { return misc_; }
  bool ok() const { return ok_; }
  size_t remaining() const { return body_.size() - offset_; }

  template <class T>
  [[gnu::always_inline]] void Value(FieldName, T& field) {
    size_t at;
    field = Take(sizeof(T), &at) ? SwapAt<T>(&body_[at], To(at)) : T{};
  }
  template <class T>
  T Count(FieldName, T) {
    T count;
    Value("", count);
    return count;
  }
  void Words(FieldName, uint64_t count, U64Array& array) {
    const uint64_t size = SaturatingProduct(count, 8);
    size_t at;
    if (!Take(size, &at)) return;
    const std::byte* const from = body_.data() + at;
    if (std::byte* const to = To(at); to != nullptr) {
      for (uint64_t i = 0; i < size; i += 8) SwapAt<uint64_t>(from + i, to + i);
    }
    array = U64Array({from, size});
  }
  void Bytes(FieldName, uint64_t size, std::span<const std::byte>& bytes) {
    size_t at;
    if (Take(size, &at)) bytes = body_.subspan(at, size);
  }
  void Branches(FieldName, uint64_t count, std::span<const std::byte>& bytes) {
    const uint64_t size = SaturatingProduct(count, kBranchEntrySize);
    size_t at;
    if (!Take(size, &at)) return;
    const std::byte* const from = body_.data() + at;
    if (std::byte* const to = To(at); to != nullptr) {
      for (uint64_t i = 0; i < size; i += kBranchEntrySize) {
        SwapAt<uint64_t>(from + i, to + i);
        SwapAt<uint64_t>(from + i + 8, to + i + 8);
        SwapBranchFlags(from + i + 16, to + i + 16);
      }
    }
    bytes = {from, size};
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
  uint8_t PeekByte(size_t at) const {
    return remaining() <= at ? uint8_t{0} : std::to_integer<uint8_t>(body_[offset_ + at]);
  }

 private:
  void Fail() {
    ok_ = false;
    offset_ = body_.size();
  }

  std::byte* To(size_t at) const { return to_ == nullptr ? nullptr : to_ + at; }

  [[gnu::always_inline]] bool Take(uint64_t size, size_t* at) {
    if (remaining() < size) [[unlikely]] {
      Fail();
      return false;
    }
    *at = offset_;
    offset_ += size;
    return true;
  }

  // Returns the native value. `to` may be null.
  template <class T>
  static T SwapAt(const std::byte* from, std::byte* to) {
    T before;
    std::memcpy(&before, from, sizeof(T));
    const T after = SwapBytes(before);
    if (to != nullptr) std::memcpy(to, &after, sizeof(T));
    return kToNative ? after : before;
  }

  static void SwapBranchFlags(const std::byte* from, std::byte* to) {
    uint64_t flags;
    std::memcpy(&flags, from, 8);
    flags = kToNative ? MirrorBranchFlags(SwapBytes(flags), false)
                      : SwapBytes(MirrorBranchFlags(flags, true));
    std::memcpy(to, &flags, 8);
  }

  std::span<const std::byte> body_;
  std::byte* to_;
  size_t offset_ = 0;
  bool ok_ = true;
  uint16_t misc_;
};

// A finder of a field's offset in a layout. The field is given by its address in the struct that is
// passed through the layout. Works only for fields before the first field of variable size.
class FieldLocator : public FieldSizer {
 public:
  explicit FieldLocator(const void* wanted) : FieldSizer(0), wanted_(wanted) {}

  // Returns the bytes from the layout's start to the field; -1 if the layout lacks it.
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
