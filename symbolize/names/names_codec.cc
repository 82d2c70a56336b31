#include "symbolize/names/names_codec.h"

#include <algorithm>
#include <span>
#include <vector>

#include "src/base/byte_reader.h"
#include "src/base/packed_section.h"

namespace profiler::symbolize {
namespace {

constexpr uint64_t kVersion = 1;                    // version of both sections
constexpr uint64_t kHasLines = 1, kIsComplete = 2;  // flags of a section

// zstd level. At this level, names (tens of KB) take milliseconds, and megabytes of code take
// tenths of a second.
constexpr int kCompressionLevel = 9;

// Returns the predicted distance of an entry in its function. It assumes that both entries are in
// one function, so that their distances differ as their addresses do.
template <class Entry>
uint64_t ExpectedDistance(const Entry& entry, const Entry& before) {
  if (entry.symbol != before.symbol) return 0;
  return before.distance + (entry.at.value - before.at.value);
}

// Stores an enum as one byte. Reading accepts values that later versions may add.
template <class Io, class Enum>
void EnumField(Io& io, Enum& value) {
  auto number = static_cast<uint8_t>(value);
  io.Plain(number);
  value = Enum{number};
}

template <class Io>
void ImageFields(Io& io, NameFacts::Image& image) {
  EnumField(io, image.kind);
  io.Plain(image.pid);
  io.String(image.path);
  io.Bytes(image.build_id);
}

template <class Io>
void SymbolFields(Io& io, std::vector<NameFacts::Symbol>& symbols) {
  io.Resize(symbols, 3);
  for (auto& symbol : symbols) io.Flagged(symbol.name, symbol.in_symbol_table);
  uint64_t start = 0;
  for (auto& symbol : symbols) {
    io.After(symbol.start.value, start);
    start = symbol.start.value;
  }
  for (auto& symbol : symbols) io.Plain(symbol.size);
}

template <class Io, class Entry>
void EntryFields(Io& io, bool has_lines, size_t symbols, std::vector<Entry>& entries) {
  io.Resize(entries, has_lines ? 8 : 5);
  Entry before;
  for (auto& entry : entries) {
    io.After(entry.at.value, before.at.value);
    before.at = entry.at;
  }
  for (auto& entry : entries) EnumField(io, entry.reason);
  for (auto& entry : entries) {
    io.OptionalAfter(entry.symbol, before.symbol, symbols);
    before.symbol = entry.symbol;
  }
  for (auto& entry : entries) io.Optional(entry.neighbour, symbols);
  before = {};
  for (auto& entry : entries) {
    io.After(entry.distance, ExpectedDistance(entry, before));
    before = entry;
  }
}

template <class Io>
void CodeFields(Io& io, std::vector<NameFacts::Code>& codes) {
  io.Resize(codes, 4);
  NameFacts::Code last;
  for (auto& code : codes) {
    io.After(code.time, last.time);
    io.After(code.start.value, last.start.value);
    io.Plain(code.size);
    io.After(code.offset.value, last.offset.value);
    last = code;
  }
}

template <class Io, class Entry>
void LineFields(Io& io, std::vector<NameFacts::Inlined>& inlined, std::vector<Entry>& entries) {
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
  Entry before;
  for (auto& entry : entries) {
    io.StringAfter(entry.file, before.file);
    io.After(entry.line, before.line);
    io.OptionalAfter(entry.inlined, before.inlined, inlined.size());
    before = entry;
  }
}

template <class Io>
void PieceFields(Io& io, NameFacts::Image& image) {
  io.Plain(image.machine);
  auto& pieces = image.pieces;
  io.Resize(pieces, 3);
  uint64_t last = 0;
  for (auto& piece : pieces) {
    io.After(piece.address.value, last);
    last = piece.address.value;
  }
  uint64_t bias = 0;  // place minus address; usually the same for all code of a file
  for (auto& piece : pieces) {
    io.After(piece.place.value, piece.address.value + bias);
    bias = piece.place.value - piece.address.value;
  }
  for (auto& piece : pieces) io.Bytes(piece.bytes);
}

// The sections NAMES and CODE; each stores other members of an image.
enum class Part : uint8_t { kNames, kCode };

template <class Io>
void Fields(Io& io, Part part, bool has_lines, NameFacts::Image& image) {
  ImageFields(io, image);
  SymbolFields(io, image.symbols);
  const auto entry_fields = [&](auto& entries) {
    EntryFields(io, has_lines, image.symbols.size(), entries);
    if (part == Part::kNames) CodeFields(io, image.codes);
    if (has_lines) LineFields(io, image.inlined, entries);
  };
  if (part == Part::kNames) {
    entry_fields(image.addresses);
  } else {
    entry_fields(image.instructions);
    PieceFields(io, image);
  }
}

bool Ascend(const auto& elements, auto key) {
  const auto not_after = [&](const auto& a, const auto& b) { return a.*key >= b.*key; };
  return std::ranges::adjacent_find(elements, not_after) == elements.end();
}

// Checks rules that the types of fields do not express.
bool IsSound(const NameFacts::Image& image) {
  std::vector<uint32_t> depths;
  depths.reserve(image.inlined.size());
  for (const auto& call : image.inlined) {
    depths.push_back(call.caller == NameFacts::kNone ? 1 : depths[call.caller] + 1);
    if (depths.back() > NameFacts::kMostInlined) return false;
  }
  for (const auto& piece : image.pieces) {
    if (piece.bytes.empty()) return false;
  }
  return Ascend(image.addresses, &NameFacts::Address::at) &&
         Ascend(image.instructions, &NameFacts::Instruction::at) &&
         Ascend(image.pieces, &NameFacts::Piece::address);
}

// Encodes the content: the strings except the empty one, then the images.
std::string EncodeContent(const NameFacts& names, Part part) {
  ColumnWriter writing;
  writing.Strings(names.strings);
  writing.out.Number(names.images.size());
  for (const auto& image : names.images) {
    // Readers and writers share the list of fields; a writer changes nothing.
    Fields(writing, part, names.has_lines, const_cast<NameFacts::Image&>(image));
  }
  return writing.out.Take();
}

bool DecodeContent(std::span<const std::byte> plain, Part part, NameFacts& names) {
  ColumnReader reading{NumberReader(plain)};
  reading.Strings(names.strings);
  constexpr size_t kLeastImage = 7;
  const size_t images = reading.in.Count(kLeastImage);
  for (size_t i = 0; i < images && reading.ok(); ++i) {
    auto& image = names.images.emplace_back();
    Fields(reading, part, names.has_lines, image);
    // The kind of place is not stored, because it follows from the kind of image.
    for (auto& address : image.addresses) address.at.in_file = IsInFile(image.kind);
    for (auto& piece : image.pieces) piece.place.in_file = IsInFile(image.kind);
    if (!reading.ok() || !IsSound(image)) return false;
  }
  return reading.ok();
}

std::string Encode(const NameFacts& names, Part part) {
  const uint64_t flags = (names.has_lines ? kHasLines : 0) | (names.is_complete ? kIsComplete : 0);
  return PackSection(kVersion, flags, EncodeContent(names, part), kCompressionLevel);
}

std::optional<NameFacts> Decode(std::string_view section, Part part) {
  const std::optional<UnpackedSection> unpacked = UnpackSection(section, kVersion);
  if (!unpacked) return std::nullopt;
  NameFacts names;
  names.has_lines = (unpacked->flags & kHasLines) != 0;
  names.is_complete = (unpacked->flags & kIsComplete) != 0;
  if (!DecodeContent(unpacked->content, part, names)) return std::nullopt;
  return names;
}

}  // namespace

std::string EncodeNames(const NameFacts& names) { return Encode(names, Part::kNames); }

std::string EncodeCode(const NameFacts& code) { return Encode(code, Part::kCode); }

std::optional<NameFacts> DecodeNames(std::string_view section) {
  return Decode(section, Part::kNames);
}

std::optional<NameFacts> DecodeCode(std::string_view section) {
  return Decode(section, Part::kCode);
}

}  // namespace profiler::symbolize
