#include "symbolize/python/line_table.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "src/base/byte_reader.h"

namespace profiler::symbolize::python {
namespace {

class Decoder {
 public:
  Decoder(std::span<const std::byte> table, int32_t first_line, uint32_t code_size)
      : reader_(table), line_(first_line), code_size_(code_size) {}

  std::vector<Line> Steps() {
    Begin(true);
    while (IsMore()) {
      offset_ += reader_.Read<uint8_t>();
      const auto step = reader_.Read<int8_t>();
      if (!reader_.ok()) break;
      line_ += step;
      Begin(true);
    }
    return Result();
  }

  std::vector<Line> Ranges() {
    constexpr int8_t kNoLine = -128;
    while (IsMore()) {
      const auto size = reader_.Read<uint8_t>();
      const auto step = reader_.Read<int8_t>();
      if (!reader_.ok()) break;
      if (step != kNoLine) line_ += step;
      if (size == 0) continue;
      Begin(step != kNoLine);
      offset_ += size;
    }
    EndRanges();
    return Result();
  }

  std::vector<Line> Locations() {
    while (IsMore()) {
      const auto head = reader_.Read<uint8_t>();
      if ((head & 0x80) == 0) break;
      const bool has_line = ReadLocation(head >> 3 & 0xf);
      if (!reader_.ok()) break;
      Begin(has_line);
      offset_ += kUnit * ((head & 7u) + 1);
    }
    EndRanges();
    return Result();
  }

 private:
  bool IsMore() const {
    return reader_.ok() && reader_.remaining() > 0 && offset_ < code_size_ &&
           lines_.size() < kMostLines;
  }

  // Begins the current line at the current offset.
  void Begin(bool has_line) {
    if (offset_ >= code_size_) return;
    const bool is_number = has_line && line_ > 0 && line_ <= INT32_MAX;
    const uint32_t line = is_number ? static_cast<uint32_t>(line_) : 0;
    if (!lines_.empty() && lines_.back().offset == offset_) lines_.pop_back();
    if (lines_.empty() || lines_.back().line != line) lines_.push_back({offset_, line});
  }
  // Instructions after the last range have no line.
  void EndRanges() { Begin(false); }

  // Reads an entry after its first byte, and takes its line. Returns false if it has none.
  bool ReadLocation(int kind) {
    constexpr int kFirstOneLine = 10, kLastOneLine = 12, kNoColumns = 13, kLong = 14;
    if (kind < kFirstOneLine) {
      reader_.Skip(1);
    } else if (kind <= kLastOneLine) {
      line_ += kind - kFirstOneLine;
      reader_.Skip(2);
    } else if (kind == kNoColumns) {
      line_ += Signed();
    } else if (kind == kLong) {
      line_ += Signed();
      for (int i = 0; i < 3; ++i) Unsigned();  // end line and columns
    } else {
      return false;
    }
    return true;
  }

  uint32_t Unsigned() {
    constexpr int kMostBits = 30;
    uint32_t value = 0;
    for (int bits = 0; bits <= kMostBits; bits += 6) {
      const auto byte = reader_.Read<uint8_t>();
      value |= (byte & 0x3fu) << bits;
      if ((byte & 0x40) == 0) return value;
    }
    reader_.Fail();
    return 0;
  }
  int64_t Signed() {
    const uint32_t value = Unsigned();
    const auto magnitude = static_cast<int64_t>(value >> 1);
    return (value & 1) != 0 ? -magnitude : magnitude;
  }

  std::vector<Line> Result() { return std::move(lines_); }

  ByteReader reader_;
  int64_t line_;
  const uint32_t code_size_;
  uint32_t offset_ = 0;
  std::vector<Line> lines_;
};

}  // namespace

std::vector<Line> DecodeLines(LineFormat format, std::span<const std::byte> table,
                              int32_t first_line, uint32_t code_size) {
  Decoder decoder(table, first_line, code_size);
  switch (format) {
    case LineFormat::kSteps:
      return decoder.Steps();
    case LineFormat::kRanges:
      return decoder.Ranges();
    case LineFormat::kLocations:
      return decoder.Locations();
  }
  return {};
}

uint32_t FindLine(std::span<const Line> lines, uint32_t offset) {
  const auto after =
      std::upper_bound(lines.begin(), lines.end(), offset,
                       [](uint32_t value, const Line& line) { return value < line.offset; });
  return after == lines.begin() ? 0 : std::prev(after)->line;
}

}  // namespace profiler::symbolize::python
