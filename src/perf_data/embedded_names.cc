// The section NAMES between bytes and value. FORMAT.md draws it.
//
// Tables stand column by column: numbers of one kind are much like their neighbours, so differences
// are small and zstd finds them to repeat.

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "src/base/byte_reader.h"
#include "src/perf_data/feature_values.h"
#include "src/perf_data/perf_data_format.h"

namespace profiler::perf_data {
namespace {

constexpr uint8_t kVersion = 1;
enum Flag : uint8_t { kHasLines = 1, kIsComplete = 2, kIsPacked = 4 };

constexpr int kCompressionLevel = 9;  // tens of KB: the level costs a few milliseconds
// A packed byte stands for at most so many: what expands more is not of our making.
constexpr uint64_t kMostExpansion = 64;
constexpr uint64_t kMostBytes = uint64_t{256} << 20;

// ---- numbers

class NumberWriter {
 public:
  // Seven bits a byte, low ones first; the high bit says that more follow.
  void Number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }
  // Differences have their sign in the lowest bit. They wrap, so each two numbers have one.
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

// Failure is sticky, as ByteReader's.
class NumberReader {
 public:
  explicit NumberReader(std::span<const std::byte> bytes) : reader_(bytes) {}

  bool ok() const { return reader_.ok(); }
  size_t remaining() const { return reader_.remaining(); }
  void Fail() { reader_.Fail(); }

  uint64_t Number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = reader_.Read<uint8_t>();
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }
  uint64_t Difference(uint64_t before) {
    const uint64_t number = Number();
    return before + (number >> 1 ^ (0 - (number & 1)));
  }
  // A number below `limit`.
  uint32_t Index(uint64_t limit) { return static_cast<uint32_t>(Checked(Number(), limit)); }
  uint32_t IndexAfter(uint64_t before, uint64_t limit) {
    return static_cast<uint32_t>(Checked(Difference(before), limit));
  }
  // How many elements follow that take at least `least` bytes each.
  size_t Count(size_t least) {
    const uint64_t count = Number();
    if (count <= remaining() / least) return count;
    Fail();
    return 0;
  }
  std::span<const std::byte> Bytes() { return reader_.ReadBytes(Number()); }

 private:
  uint64_t Checked(uint64_t value, uint64_t limit) {
    if (value < limit) return value;
    Fail();
    return 0;
  }

  ByteReader reader_;
};

// Tables that may have no entry for something count from 1, for 0 to mean that.
uint64_t OrNone(uint32_t index) { return index == EmbeddedNames::kNone ? 0 : uint64_t{index} + 1; }
uint32_t FromOrNone(uint64_t number) {
  return number == 0 ? EmbeddedNames::kNone : static_cast<uint32_t>(number - 1);
}

uint64_t NumberOf(StringId id) { return static_cast<uint32_t>(id); }

// ---- one layout, written and read

struct Writing {
  NumberWriter out;

  template <class T>
  void Resize(std::vector<T>& column, size_t) {
    out.Number(column.size());
  }
  void Plain(auto& value) { out.Number(static_cast<uint64_t>(value)); }
  void Flagged(StringId& id, bool& flag) { out.Number(NumberOf(id) << 1 | (flag ? 1 : 0)); }
  void String(StringId& id) { out.Number(NumberOf(id)); }
  void StringAfter(StringId& id, StringId before) {
    out.Difference(NumberOf(id), NumberOf(before));
  }
  void After(auto& value, uint64_t before) { out.Difference(value, before); }
  void OptionalAfter(uint32_t& index, uint32_t before, size_t) {
    out.Difference(OrNone(index), OrNone(before));
  }
  void Optional(uint32_t& index, size_t) { out.Number(OrNone(index)); }
  void Bytes(std::vector<std::byte>& bytes) { out.Text(TextOf(bytes)); }
  bool ok() const { return true; }
};

struct Reading {
  NumberReader in;
  size_t strings;

  template <class T>
  void Resize(std::vector<T>& column, size_t least) {
    column.resize(in.Count(least));
  }
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
  void Bytes(std::vector<std::byte>& bytes) {
    const auto view = in.Bytes();
    bytes.assign(view.begin(), view.end());
  }
  bool ok() const { return in.ok(); }
};

// Where an address is expected to lie in its function: as far on as it is from the address before.
uint64_t ExpectedDistance(const EmbeddedNames::Address& address,
                          const EmbeddedNames::Address& before) {
  if (address.symbol != before.symbol) return 0;
  return before.distance + (address.offset - before.offset);
}

template <class Io>
void Fields(Io& io, bool has_lines, EmbeddedNames::Image& image) {
  io.Plain(image.kind);
  io.Plain(image.pid);
  io.String(image.path);
  io.Bytes(image.build_id);

  auto& symbols = image.symbols;
  io.Resize(symbols, 3);
  for (auto& symbol : symbols) io.Flagged(symbol.name, symbol.in_symbol_table);
  uint64_t start = 0;
  for (auto& symbol : symbols) {
    io.After(symbol.start, start);
    start = symbol.start;
  }
  for (auto& symbol : symbols) io.Plain(symbol.size);

  auto& addresses = image.addresses;
  io.Resize(addresses, has_lines ? 8 : 5);
  EmbeddedNames::Address before;
  for (auto& address : addresses) {
    io.After(address.offset, before.offset);
    before.offset = address.offset;
  }
  for (auto& address : addresses) io.Plain(address.reason);
  for (auto& address : addresses) {
    io.OptionalAfter(address.symbol, before.symbol, symbols.size());
    before.symbol = address.symbol;
  }
  for (auto& address : addresses) io.Optional(address.neighbour, symbols.size());
  before = {};
  for (auto& address : addresses) {
    io.After(address.distance, ExpectedDistance(address, before));
    before = address;
  }
  auto& codes = image.codes;
  io.Resize(codes, 4);
  EmbeddedNames::Code last;
  for (auto& code : codes) {
    io.After(code.time, last.time);
    io.After(code.start, last.start);
    io.Plain(code.size);
    io.After(code.offset, last.offset);
    last = code;
  }
  if (!has_lines) return;

  auto& inlined = image.inlined;
  io.Resize(inlined, 4);
  for (auto& call : inlined) io.String(call.name);
  for (size_t i = 0; i < inlined.size(); ++i) io.Optional(inlined[i].caller, i);
  StringId file{};
  for (auto& call : inlined) {
    io.StringAfter(call.file, file);
    file = call.file;
  }
  uint32_t line = 0;
  for (auto& call : inlined) {
    io.After(call.line, line);
    line = call.line;
  }
  before = {};
  for (auto& address : addresses) {
    io.StringAfter(address.file, before.file);
    io.After(address.line, before.line);
    io.OptionalAfter(address.inlined, before.inlined, inlined.size());
    before = address;
  }
}

// What the types of the fields do not say.
bool IsSound(const EmbeddedNames::Image& image) {
  std::vector<uint32_t> depths;
  depths.reserve(image.inlined.size());
  for (const auto& call : image.inlined) {
    depths.push_back(call.caller == EmbeddedNames::kNone ? 1 : depths[call.caller] + 1);
    if (depths.back() > EmbeddedNames::kMostInlined) return false;
  }
  const auto& addresses = image.addresses;
  const auto not_after = [](const auto& a, const auto& b) { return a.offset >= b.offset; };
  return std::adjacent_find(addresses.begin(), addresses.end(), not_after) == addresses.end();
}

// strings, without the empty one │ images
std::string Encode(const EmbeddedNames& names) {
  Writing writing;
  writing.out.Number(names.strings.size() - 1);
  for (size_t i = 1; i < names.strings.size(); ++i) {
    writing.out.Text(names.strings[StringId(static_cast<uint32_t>(i))]);
  }
  writing.out.Number(names.images.size());
  for (const auto& image : names.images) {
    // The list of fields takes what it may change; a writer changes nothing.
    Fields(writing, names.has_lines, const_cast<EmbeddedNames::Image&>(image));
  }
  return writing.out.Take();
}

bool Decode(std::span<const std::byte> plain, EmbeddedNames& names) {
  Reading reading{NumberReader(plain), 1};
  const size_t strings = reading.in.Count(1);
  for (size_t i = 0; i < strings && reading.ok(); ++i) {
    const auto id = names.strings.Intern(TextOf(reading.in.Bytes()));
    if (NumberOf(id) != i + 1) return false;  // one of them is there twice
  }
  reading.strings = names.strings.size();
  constexpr size_t kLeastImage = 7;
  const size_t images = reading.in.Count(kLeastImage);
  for (size_t i = 0; i < images && reading.ok(); ++i) {
    auto& image = names.images.emplace_back();
    Fields(reading, names.has_lines, image);
    if (!reading.ok() || !IsSound(image)) return false;
  }
  return reading.ok();
}

}  // namespace

std::string EncodeEmbeddedNames(const EmbeddedNames& names) {
  const std::string plain = Encode(names);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const size_t size =
      ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), kCompressionLevel);
  const bool is_packed =
      ZSTD_isError(size) == 0 && size < plain.size() && plain.size() <= size * kMostExpansion;
  packed.resize(is_packed ? size : 0);
  const uint8_t flags = (names.has_lines ? kHasLines : 0) | (names.is_complete ? kIsComplete : 0) |
                        (is_packed ? kIsPacked : 0);
  NumberWriter head;
  head.Number(kVersion);
  head.Number(flags);
  head.Number(plain.size());
  return head.Take() + (is_packed ? packed : plain);
}

std::optional<EmbeddedNames> ReadEmbeddedNames(const Features& features) {
  const auto section = features.other.find(kFeatureNames);
  if (section == features.other.end()) return std::nullopt;
  return DecodeEmbeddedNames(section->second);
}

std::optional<EmbeddedNames> DecodeEmbeddedNames(std::string_view section) {
  NumberReader head(BytesOfText(section));
  const uint64_t version = head.Number();
  const uint64_t flags = head.Number();
  const uint64_t size = head.Number();
  if (!head.ok() || version != kVersion) return std::nullopt;
  std::span<const std::byte> content =
      BytesOfText(section).subspan(section.size() - head.remaining());

  std::vector<std::byte> plain;
  if ((flags & kIsPacked) != 0) {
    if (size > kMostBytes || size > content.size() * kMostExpansion) return std::nullopt;
    plain.resize(size);
    const size_t got = ZSTD_decompress(plain.data(), plain.size(), content.data(), content.size());
    if (ZSTD_isError(got) != 0 || got != size) return std::nullopt;
    content = plain;
  }
  // In a stream zeroes may follow.
  if (size > content.size()) return std::nullopt;
  EmbeddedNames names;
  names.has_lines = (flags & kHasLines) != 0;
  names.is_complete = (flags & kIsComplete) != 0;
  if (!Decode(content.first(size), names)) return std::nullopt;
  return names;
}

}  // namespace profiler::perf_data
