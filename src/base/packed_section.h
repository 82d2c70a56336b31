// Encodes tables of numbers compactly, for the larger sections of our own file format.
//
//   version │ flags: 4 packed, others the section's own │ size │ content, of that size;
//                                                                 packed: a zstd frame of it
//
// Numbers have variable length: seven bits per byte, low bits first; the high bit says that more
// bytes follow. A section is therefore the same in either byte order. The lowest bit of a
// difference is its sign. Tables are stored column by column: neighbouring numbers in a column are
// similar, so their differences are small and zstd compresses them well.
//
// A layout is a template over ColumnWriter and ColumnReader, so that it is written once.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/byte_reader.h"
#include "src/base/string_table.h"

namespace profiler {

// Returns a whole section. `level` is the compression level of zstd.
std::string PackSection(uint64_t version, uint64_t flags, std::string_view content, int level);

struct UnpackedSection {
  uint64_t flags = 0;
  std::span<const std::byte> content;  // a view of the section, or of `inflated`
  std::unique_ptr<std::byte[]> inflated;
};
// Returns nullopt if the section has another version, is truncated, or expands more than our own
// sections do. The result takes at most 64 times the memory of the section.
std::optional<UnpackedSection> UnpackSection(std::string_view section, uint64_t version);

class NumberWriter {
 public:
  void Number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }
  // Writes `value` minus `before`. The difference wraps, so any two numbers have one.
  void Difference(uint64_t value, uint64_t before) {
    const uint64_t difference = value - before;
    Number(difference << 1 ^ (0 - (difference >> 63)));
  }
  void Text(std::string_view text) {
    Number(text.size());
    out_ += text;
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

// A reader whose failure is sticky: afterwards nothing remains and all numbers are 0.
class NumberReader {
 public:
  explicit NumberReader(std::span<const std::byte> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }
  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  uint64_t Number() {
    if (at_ != end_ && std::to_integer<uint8_t>(*at_) < 0x80) [[likely]] {
      return std::to_integer<uint64_t>(*at_++);
    }
    return LongNumber();
  }
  uint64_t Difference(uint64_t before) {
    const uint64_t number = Number();
    return before + (number >> 1 ^ (0 - (number & 1)));
  }
  // Returns a number below `limit`; fails if the number is `limit` or more.
  uint32_t Index(uint64_t limit) { return static_cast<uint32_t>(Checked(Number(), limit)); }
  uint32_t IndexAfter(uint64_t before, uint64_t limit) {
    return static_cast<uint32_t>(Checked(Difference(before), limit));
  }
  // Returns a number of elements that follow. Fails if the remaining bytes cannot hold so many
  // elements of at least `least` bytes each.
  size_t Count(size_t least) {
    const uint64_t count = Number();
    if (count <= remaining() / least) return count;
    Fail();
    return 0;
  }
  std::span<const std::byte> Bytes() {
    const uint64_t size = Number();
    if (size > remaining()) {
      Fail();
      return {};
    }
    at_ += size;
    return {at_ - size, size};
  }

 private:
  uint64_t LongNumber() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = std::to_integer<uint64_t>(*at_++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }
  uint64_t Checked(uint64_t value, uint64_t limit) {
    if (value < limit) return value;
    Fail();
    return 0;
  }

  const std::byte* at_;
  const std::byte* end_;
  bool ok_ = true;
};

// An index that means no element.
inline constexpr uint32_t kNoIndex = UINT32_MAX;

// Optional indices are stored plus 1, so that 0 means kNoIndex.
inline uint64_t OrNone(uint32_t index) { return index == kNoIndex ? 0 : uint64_t{index} + 1; }
inline uint32_t FromOrNone(uint64_t number) {
  return number == 0 ? kNoIndex : static_cast<uint32_t>(number - 1);
}

inline uint64_t NumberOf(StringId id) { return static_cast<uint32_t>(id); }

struct ColumnWriter {
  NumberWriter out;

  void Strings(const StringTable& strings) {
    out.Number(strings.size() - 1);
    for (size_t i = 1; i < strings.size(); ++i) {
      out.Text(strings[StringId(static_cast<uint32_t>(i))]);
    }
  }
  void Resize(const auto& column, size_t) { out.Number(column.size()); }
  void Plain(auto& value) { out.Number(static_cast<uint64_t>(value)); }
  void Flagged(StringId& id, bool& flag) { out.Number(NumberOf(id) << 1 | (flag ? 1 : 0)); }
  void Flagged(uint8_t& value, bool& flag) { out.Number(uint64_t{value} << 1 | (flag ? 1 : 0)); }
  void String(StringId& id) { out.Number(NumberOf(id)); }
  void StringAfter(StringId& id, StringId before) {
    out.Difference(NumberOf(id), NumberOf(before));
  }
  void After(auto& value, uint64_t before) { out.Difference(value, before); }
  void OptionalAfter(uint32_t& index, uint32_t before, size_t) {
    out.Difference(OrNone(index), OrNone(before));
  }
  void Optional(uint32_t& index, size_t) { out.Number(OrNone(index)); }
  // An Id is a 32-bit number or an enumeration of that size.
  template <class Id>
  void Index(Id& index, size_t) {
    out.Number(static_cast<uint32_t>(index));
  }
  template <class Id>
  void IndexAfter(Id& index, Id before, size_t) {
    out.Difference(static_cast<uint32_t>(index), static_cast<uint32_t>(before));
  }
  // Stores the index of an earlier element as its distance before `element`; 0 stands for kNoIndex.
  template <class Id>
  void Earlier(Id& index, size_t element) {
    const auto number = static_cast<uint32_t>(index);
    out.Number(number == kNoIndex ? 0 : element - number);
  }
  void Bytes(std::vector<std::byte>& bytes) { out.Text(TextOf(bytes)); }
  bool ok() const { return true; }
};

struct ColumnReader {
  NumberReader in;
  size_t strings = 1;  // number of strings in the string table

  void Strings(StringTable& table) {
    const size_t count = in.Count(1);
    for (size_t i = 0; i < count && ok(); ++i) {
      // Interning a string twice returns its first id. A duplicate is therefore an error.
      if (NumberOf(table.Intern(TextOf(in.Bytes()))) != i + 1) in.Fail();
    }
    strings = table.size();
  }
  void Resize(auto& column, size_t least) { column.resize(in.Count(least)); }
  template <class T>
  void Plain(T& value) {
    value = static_cast<T>(in.Index(uint64_t{1} << (8 * std::min<size_t>(sizeof(T), 4))));
  }
  void Plain(uint64_t& value) { value = in.Number(); }
  void Flagged(StringId& id, bool& flag) {
    const uint32_t number = in.Index(uint64_t{strings} * 2);
    id = StringId(number >> 1);
    flag = (number & 1) != 0;
  }
  void Flagged(uint8_t& value, bool& flag) {
    const uint32_t number = in.Index(uint64_t{1} << 9);
    value = static_cast<uint8_t>(number >> 1);
    flag = (number & 1) != 0;
  }
  void String(StringId& id) { id = StringId(in.Index(strings)); }
  void StringAfter(StringId& id, StringId before) {
    id = StringId(in.IndexAfter(NumberOf(before), strings));
  }
  void After(uint64_t& value, uint64_t before) { value = in.Difference(before); }
  void After(uint32_t& value, uint64_t before) {
    value = in.IndexAfter(before, uint64_t{UINT32_MAX} + 1);
  }
  void OptionalAfter(uint32_t& index, uint32_t before, size_t limit) {
    index = FromOrNone(in.IndexAfter(OrNone(before), uint64_t{limit} + 1));
  }
  void Optional(uint32_t& index, size_t limit) {
    index = FromOrNone(in.Index(uint64_t{limit} + 1));
  }
  template <class Id>
  void Index(Id& index, size_t limit) {
    index = Id(in.Index(limit));
  }
  template <class Id>
  void IndexAfter(Id& index, Id before, size_t limit) {
    index = Id(in.IndexAfter(static_cast<uint32_t>(before), limit));
  }
  template <class Id>
  void Earlier(Id& index, size_t element) {
    const uint32_t back = in.Index(uint64_t{element} + 1);
    index = Id(back == 0 ? kNoIndex : static_cast<uint32_t>(element - back));
  }
  void Bytes(std::vector<std::byte>& bytes) {
    const auto view = in.Bytes();
    bytes.assign(view.begin(), view.end());
  }
  bool ok() const { return in.ok(); }
};

}  // namespace profiler
