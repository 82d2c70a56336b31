// ClickHouse's format RowBinary. Rows follow each other without separators, and so do the columns
// of a row:
//
//   UInt32, UInt64, Float64   little-endian, 4 or 8 bytes
//   Date                      UInt16, days since 1970
//   DateTime                  UInt32, seconds since 1970
//   DateTime64(9)             Int64, nanoseconds since 1970
//   String                    its size, then its bytes
//   Array(T)                  the number of elements, then the elements
//   Map(K, V)                 the number of entries, then the key and the value of each entry
//
// Sizes are LEB128: seven bits per byte, the lowest first; the highest bit is set in each byte
// except the last. Source: clickhouse.com/docs, "RowBinary".

#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::fleet::clickhouse {

static_assert(std::endian::native == std::endian::little);

// A writer that appends to a body.
class RowWriter {
 public:
  explicit RowWriter(std::string& body) : body_(body) {}

  template <class T>
  void Number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    body_.append(bytes, sizeof(T));
  }
  void Size(uint64_t size) {
    for (; size >= 0x80; size >>= 7) body_ += static_cast<char>(size | 0x80);
    body_ += static_cast<char>(size);
  }
  void Text(std::string_view text) {
    Size(text.size());
    body_.append(text);
  }

 private:
  std::string& body_;
};

// A reader of an answer, which is untrusted. Errors are sticky, as in ByteReader: after an error,
// all reads return 0 or an empty text. The reader is a view of the bytes, which must outlive it.
class RowReader {
 public:
  explicit RowReader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return rest_.empty(); }

  template <class T>
  T Number() {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    if (rest_.size() < sizeof(T)) {
      Fail();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return value;
  }
  // Reads a number of elements. An element takes at least one byte, so the call fails if the number
  // exceeds the rest of the answer.
  uint64_t Size() {
    uint64_t size = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      const auto byte = Number<uint8_t>();
      size |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) != 0) continue;
      if (size > rest_.size()) break;
      return size;
    }
    Fail();
    return 0;
  }
  std::string_view Text() {
    const uint64_t size = Size();
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  std::vector<std::string_view> Texts() {
    std::vector<std::string_view> texts(Size());
    for (std::string_view& text : texts) text = Text();
    return texts;
  }
  std::vector<uint64_t> Numbers() {
    const uint64_t size = Size();
    std::vector<uint64_t> numbers;
    for (uint64_t i = 0; i < size && ok_; ++i) numbers.push_back(Number<uint64_t>());
    return numbers;
  }

 private:
  void Fail() {
    ok_ = false;
    rest_ = {};
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace profiler::fleet::clickhouse
