#include "symbolize/confined/facts_protocol.h"

#include <algorithm>
#include <utility>

#include "src/base/text.h"

namespace profiler::symbolize {
namespace {

// Bits of the byte "present parts".
constexpr uint8_t kHasAddress = 1;
constexpr uint8_t kHasFunction = 2;
constexpr uint8_t kHasNeighbour = 4;
constexpr uint8_t kHasDebugInfo = 8;

// Returns true if the facts keep the promises of FactSource, on which views rely: each name has a
// function and an address.
bool IsSound(const AddressFacts& facts) {
  if (facts.reason == Reason::kNamed && !facts.function) return false;
  return facts.address.has_value() || !(facts.function || facts.neighbour);
}

}  // namespace

void PutSpec(const ImageSpec& spec, ContentWriter& to) {
  to.Put(spec.kind).PutText(spec.path).PutText(TextOf(spec.build_id)).Put(spec.pid);
  to.Put(spec.life.began).Put(spec.life.seen).Put(spec.life.over);
  to.Put(static_cast<uint8_t>(spec.life.is_replaced))
      .Put(static_cast<uint8_t>(spec.life.has_ended));
  to.Put(spec.maj).Put(spec.min).Put(spec.ino).Put(spec.start.value).Put(spec.mapped_at);
}

ImageSpec ReadSpec(ByteReader& from) {
  ImageSpec spec;
  spec.kind = from.Read<ImageKind>();
  spec.path = ReadText(from);
  const std::span<const std::byte> build_id = BytesOfText(ReadText(from));
  spec.build_id.assign(build_id.begin(), build_id.end());
  spec.pid = from.Read<uint32_t>();
  spec.life.began = from.Read<int64_t>();
  spec.life.seen = from.Read<int64_t>();
  spec.life.over = from.Read<int64_t>();
  spec.life.is_replaced = from.Read<uint8_t>() != 0;
  spec.life.has_ended = from.Read<uint8_t>() != 0;
  spec.maj = from.Read<uint32_t>();
  spec.min = from.Read<uint32_t>();
  spec.ino = from.Read<uint64_t>();
  spec.start = RuntimeAddress{from.Read<uint64_t>()};
  spec.mapped_at = from.Read<uint64_t>();
  return spec;
}

void PutPlace(CodePlace place, ContentWriter& to) {
  to.Put(place.value).Put(static_cast<uint8_t>(place.in_file));
}

CodePlace ReadPlace(ByteReader& from) {
  const auto value = from.Read<uint64_t>();
  return from.Read<uint8_t>() != 0 ? CodePlace(FileOffset{value})
                                   : CodePlace(RuntimeAddress{value});
}

void PutStatus(const absl::Status& status, ContentWriter& to) {
  to.Put(static_cast<int32_t>(status.code()))
      .PutText(std::string_view(status.message().data(), status.message().size()));
}

absl::Status ReadStatus(ByteReader& from) {
  const auto code = static_cast<absl::StatusCode>(from.Read<int32_t>());
  const std::string_view message = ReadText(from);
  return from.ok() ? absl::Status(code, View(message)) : absl::DataLossError("no status");
}

uint32_t FactsWriter::Number(std::string_view text) {
  const auto known = numbers_.find(View(text));
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<uint32_t>(numbers_.size());
  numbers_.emplace(View(storage_.emplace_back(text)), number);
  strings_.PutText(text);
  ++new_strings_;
  return number;
}

void FactsWriter::Put(const AddressFacts::Function& function) {
  facts_.Put(Number(function.name)).Put(function.start.value).Put(function.size);
  facts_.Put(static_cast<uint8_t>(function.in_symbol_table));
}

void FactsWriter::Put(const AddressFacts::Line& line) {
  facts_.Put(Number(line.file)).Put(line.line).Put(line.column);
}

void FactsWriter::Add(const AddressFacts& facts) {
  const int what = (facts.address ? kHasAddress : 0) | (facts.function ? kHasFunction : 0) |
                   (facts.neighbour ? kHasNeighbour : 0) |
                   (facts.has_debug_info ? kHasDebugInfo : 0);
  facts_.Put(facts.reason).Put(static_cast<uint8_t>(what));
  if (facts.address) facts_.Put(facts.address->value);
  if (facts.function) Put(*facts.function);
  if (facts.neighbour) Put(*facts.neighbour);
  Put(facts.at);
  facts_.Put(static_cast<uint32_t>(facts.inlined.size()));
  for (const AddressFacts::Inlined& inlined : facts.inlined) {
    facts_.Put(Number(inlined.name));
    Put(inlined.at);
  }
}

std::string FactsWriter::Take() {
  ContentWriter head;
  head.Put(std::exchange(new_strings_, 0));
  return std::move(head).Take() + std::exchange(strings_, {}).Take() +
         std::exchange(facts_, {}).Take();
}

std::string_view FactsReader::Text(ByteReader& from) {
  const auto number = from.Read<uint32_t>();
  if (number < strings_.size()) return strings_[number];
  from.Fail();
  return {};
}

AddressFacts::Function FactsReader::ReadFunction(ByteReader& from) {
  AddressFacts::Function function;
  function.name = Text(from);
  function.start = ElfAddress{from.Read<uint64_t>()};
  function.size = from.Read<uint64_t>();
  function.in_symbol_table = from.Read<uint8_t>() != 0;
  return function;
}

AddressFacts::Line FactsReader::ReadLine(ByteReader& from) {
  AddressFacts::Line line;
  line.file = Text(from);
  line.line = from.Read<uint32_t>();
  line.column = from.Read<uint32_t>();
  return line;
}

AddressFacts FactsReader::ReadFacts(ByteReader& from) {
  AddressFacts facts;
  const auto reason = from.Read<uint8_t>();
  if (reason > static_cast<uint8_t>(Reason::kRestricted)) from.Fail();
  facts.reason = static_cast<Reason>(reason);
  const auto what = from.Read<uint8_t>();
  if ((what & kHasAddress) != 0) facts.address = ElfAddress{from.Read<uint64_t>()};
  if ((what & kHasFunction) != 0) facts.function = ReadFunction(from);
  if ((what & kHasNeighbour) != 0) facts.neighbour = ReadFunction(from);
  facts.has_debug_info = (what & kHasDebugInfo) != 0;
  facts.at = ReadLine(from);
  const auto inlined_calls = from.Read<uint32_t>();
  if (inlined_calls > from.remaining()) from.Fail();  // each takes more than a byte
  if (!from.ok() || inlined_calls == 0) return facts;
  std::vector<AddressFacts::Inlined>& inlined = inlined_.emplace_back();
  inlined.reserve(inlined_calls);
  for (uint32_t i = 0; i < inlined_calls && from.ok(); ++i) {
    const std::string_view name = Text(from);
    inlined.push_back({name, ReadLine(from)});
  }
  facts.inlined = inlined;
  return facts;
}

absl::StatusOr<std::vector<AddressFacts>> FactsReader::Read(std::string_view content,
                                                            size_t count) {
  ByteReader from(BytesOfText(content));
  const auto new_strings = from.Read<uint32_t>();
  for (uint32_t i = 0; i < new_strings && from.ok(); ++i) {
    strings_.push_back(storage_.emplace_back(ReadText(from)));
  }
  inlined_.clear();
  std::vector<AddressFacts> all;
  all.reserve(std::min<size_t>(count, from.remaining()));
  for (size_t i = 0; i < count && from.ok(); ++i) {
    all.push_back(ReadFacts(from));
    if (!IsSound(all.back())) from.Fail();
  }
  if (!from.ok() || from.remaining() != 0) return absl::DataLossError("these are no facts");
  return all;
}

}  // namespace profiler::symbolize
