#include "symbolize/names/stored_facts.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace profiler::symbolize {
namespace {

// Who names many asks in the order of addresses: the next one is mostly the one behind the last.
const NameFacts::Address* FindAddress(const std::vector<NameFacts::Address>& addresses,
                                      uint64_t offset, size_t& last) {
  const size_t end = std::min(last + 2, addresses.size());
  for (size_t i = last; i < end; ++i) {
    if (addresses[i].offset == offset) return &addresses[last = i];
  }
  const auto found = std::ranges::lower_bound(addresses, offset, {}, &NameFacts::Address::offset);
  if (found == addresses.end() || found->offset != offset) return nullptr;
  last = static_cast<size_t>(found - addresses.begin());
  return &*found;
}

}  // namespace

// The piece with the byte at `address` that begins nearest to it.
CodeBytes StoredImage::CodeAt(ElfAddress address, uint64_t size) const {
  const auto after =
      std::ranges::upper_bound(image_.pieces, address.value, {}, &NameFacts::Piece::address);
  if (after == image_.pieces.begin()) return {};
  const NameFacts::Piece& piece = *std::prev(after);
  const uint64_t distance = address.value - piece.address;
  if (distance >= piece.bytes.size()) return {};
  const std::span<const std::byte> bytes = std::span(piece.bytes).subspan(distance);
  return {Reason::kNamed,
          bytes.first(std::min<uint64_t>(size, bytes.size())),
          {piece.offset + distance},
          image_.machine};
}

std::optional<AddressFacts::Function> StoredImage::FunctionOf(uint32_t index) const {
  if (index == NameFacts::kNone) return std::nullopt;
  const NameFacts::Symbol& symbol = image_.symbols[index];
  return AddressFacts::Function{
      strings_[symbol.name], {symbol.start}, symbol.size, symbol.in_symbol_table};
}

std::optional<AddressFacts> StoredImage::Read(const std::vector<NameFacts::Address>& addresses,
                                              uint64_t offset, size_t& last) {
  const NameFacts::Address* const address = FindAddress(addresses, offset, last);
  if (address == nullptr) return std::nullopt;
  AddressFacts facts;
  facts.reason = address->reason;
  facts.function = FunctionOf(address->symbol);
  facts.neighbour = FunctionOf(address->neighbour);
  if (const auto& from = facts.function ? facts.function : facts.neighbour) {
    facts.address = ElfAddress{from->start.value + address->distance};
  }
  facts.at = {strings_[address->file], address->line};
  inlined_.clear();
  for (uint32_t i = address->inlined; i != NameFacts::kNone; i = image_.inlined[i].caller) {
    const NameFacts::Inlined& inlined = image_.inlined[i];
    inlined_.push_back({strings_[inlined.name], facts.at});
    facts.at = {strings_[inlined.file], inlined.line};
  }
  facts.inlined = inlined_;
  return facts;
}

StoredFacts::StoredFacts(NameFacts facts) : facts_(std::move(facts)) {
  for (const NameFacts::Image& image : facts_.images) {
    StoredImage& stored = images_.emplace_back(facts_, image);
    by_key_[{image.kind, std::string(facts_.strings[image.path]), image.build_id, image.pid}] =
        &stored;
  }
}

StoredImage* StoredFacts::Find(const ImageSpec& spec) {
  for (const uint32_t pid : {spec.pid, uint32_t{0}}) {
    const auto it = by_key_.find({spec.kind, spec.path, spec.build_id, pid});
    if (it != by_key_.end()) return it->second;
  }
  return nullptr;
}

}  // namespace profiler::symbolize
