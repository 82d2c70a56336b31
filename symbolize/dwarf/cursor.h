// Reads the encodings of DWARF from untrusted bytes. Failure is sticky, as in
// src/base/byte_reader.h; what is added are LEB128, numbers whose size a header tells, and
// positions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace profiler::symbolize::dwarf {

using Bytes = std::span<const std::byte>;

// Native byte order. A view: the bytes must outlive it.
class Cursor {
 public:
  Cursor() = default;
  // Starts `offset` bytes into the section; failed where that is outside of it.
  explicit Cursor(Bytes section, uint64_t offset = 0)
      : begin_(reinterpret_cast<const uint8_t*>(section.data())),
        at_(begin_),
        end_(begin_ + section.size()) {
    Seek(offset);
  }

  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ == end_; }
  uint64_t offset() const { return static_cast<uint64_t>(at_ - begin_); }
  uint64_t remaining() const { return static_cast<uint64_t>(end_ - at_); }

  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  void Seek(uint64_t offset) {
    if (offset > static_cast<uint64_t>(end_ - begin_)) return Fail();
    at_ = begin_ + offset;
  }

  // Nothing is read at or behind `offset` from now on.
  void EndAt(uint64_t offset) {
    if (offset < this->offset() || offset > static_cast<uint64_t>(end_ - begin_)) return Fail();
    end_ = begin_ + offset;
  }

  void Skip(uint64_t size) {
    if (size > remaining()) return Fail();
    at_ += size;
  }

  template <class T>
  T Read() {
    T value{};
    if (remaining() < sizeof(T)) {
      Fail();
      return value;
    }
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  // A number of 1, 2, 3, 4 or 8 bytes.
  uint64_t ReadSized(unsigned size) {
    switch (size) {
      case 1:
        return Read<uint8_t>();
      case 2:
        return Read<uint16_t>();
      case 3: {
        const uint64_t low = Read<uint16_t>();
        return low | uint64_t{Read<uint8_t>()} << 16;
      }
      case 4:
        return Read<uint32_t>();
      case 8:
        return Read<uint64_t>();
      default:
        Fail();
        return 0;
    }
  }

  uint64_t ReadUleb() {
    if (at_ != end_ && *at_ < 0x80) return *at_++;
    uint64_t value = 0;
    for (unsigned shift = 0; at_ != end_; shift += 7) {
      const uint8_t byte = *at_++;
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }

  int64_t ReadSleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; at_ != end_;) {
      const uint8_t byte = *at_++;
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if (byte >= 0x80) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
    Fail();
    return 0;
  }

  void SkipLeb() {
    while (at_ != end_) {
      if (*at_++ < 0x80) return;
    }
    Fail();
  }

  // Up to a NUL, which is consumed as well.
  std::string_view ReadString() {
    const void* nul = at_ == end_ ? nullptr : std::memchr(at_, 0, remaining());
    if (nul == nullptr) {
      Fail();
      return {};
    }
    const auto* text = reinterpret_cast<const char*>(at_);
    const std::string_view view(text, static_cast<size_t>(static_cast<const char*>(nul) - text));
    at_ += view.size() + 1;
    return view;
  }

  // The length that begins a unit or table: 4 bytes, or 0xffffffff and 8 bytes in 64-bit DWARF.
  // `offset_size` becomes 4 or 8. Fails where the length goes past the end.
  uint64_t ReadInitialLength(uint8_t& offset_size) {
    uint64_t length = Read<uint32_t>();
    offset_size = 4;
    if (length == 0xffffffff) {
      offset_size = 8;
      length = Read<uint64_t>();
    } else if (length >= 0xfffffff0) {
      Fail();
    }
    if (length > remaining()) Fail();
    return ok_ ? length : 0;
  }

 private:
  const uint8_t* begin_ = nullptr;
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  bool ok_ = true;
};

}  // namespace profiler::symbolize::dwarf
