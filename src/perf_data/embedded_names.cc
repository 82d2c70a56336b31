// The section NAMES between bytes and value. FORMAT.md draws it.

#include <algorithm>
#include <string_view>
#include <utility>

#include "src/base/byte_reader.h"
#include "src/perf_data/feature_values.h"
#include "src/perf_data/packed_section.h"
#include "src/perf_data/perf_data_format.h"

namespace profiler::perf_data {
namespace {

constexpr uint64_t kVersion = 1;
constexpr uint64_t kHasLines = 1, kIsComplete = 2;  // flags

constexpr int kCompressionLevel = 9;  // tens of KB: the level costs a few milliseconds

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
  ColumnWriter writing;
  writing.Strings(names.strings);
  writing.out.Number(names.images.size());
  for (const auto& image : names.images) {
    // The list of fields takes what it may change; a writer changes nothing.
    Fields(writing, names.has_lines, const_cast<EmbeddedNames::Image&>(image));
  }
  return writing.out.Take();
}

bool Decode(std::span<const std::byte> plain, EmbeddedNames& names) {
  ColumnReader reading{NumberReader(plain)};
  reading.Strings(names.strings);
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
  const uint64_t flags = (names.has_lines ? kHasLines : 0) | (names.is_complete ? kIsComplete : 0);
  return PackSection(kVersion, flags, Encode(names), kCompressionLevel);
}

std::optional<EmbeddedNames> ReadEmbeddedNames(const Features& features) {
  const auto section = features.other.find(kFeatureNames);
  if (section == features.other.end()) return std::nullopt;
  return DecodeEmbeddedNames(section->second);
}

std::optional<EmbeddedNames> DecodeEmbeddedNames(std::string_view section) {
  const std::optional<UnpackedSection> unpacked = UnpackSection(section, kVersion);
  if (!unpacked) return std::nullopt;
  EmbeddedNames names;
  names.has_lines = (unpacked->flags & kHasLines) != 0;
  names.is_complete = (unpacked->flags & kIsComplete) != 0;
  if (!Decode(unpacked->content, names)) return std::nullopt;
  return names;
}

}  // namespace profiler::perf_data
