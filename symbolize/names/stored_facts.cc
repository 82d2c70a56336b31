#include "symbolize/names/stored_facts.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace profiler::symbolize {
namespace {

// Tries the next entries first: callers mostly ask in address order.
template <class Where>
const NameFacts::Entry<Where>* FindEntry(const std::vector<NameFacts::Entry<Where>>& entries,
                                         Where at, size_t& last) {
  const size_t end = std::min(last + 2, entries.size());
  for (size_t i = last; i < end; ++i) {
    if (entries[i].at == at) return &entries[last = i];
  }
  const auto found = std::ranges::lower_bound(entries, at, {}, &NameFacts::Entry<Where>::at);
  if (found == entries.end() || found->at != at) return nullptr;
  last = static_cast<size_t>(found - entries.begin());
  return &*found;
}

}  // namespace

// Returns code from the piece that contains `address`. If several pieces contain it, uses the one
// with the nearest start.
CodeBytes StoredImage::CodeAt(ElfAddress address, uint64_t size) const {
  const auto after =
      std::ranges::upper_bound(image_.pieces, address, {}, &NameFacts::Piece::address);
  if (after == image_.pieces.begin()) return {};
  const NameFacts::Piece& piece = *std::prev(after);
  const uint64_t distance = address.value - piece.address.value;
  if (distance >= piece.bytes.size()) return {};
  const std::span<const std::byte> bytes = std::span(piece.bytes).subspan(distance);
  return {Reason::kNamed, bytes.first(std::min<uint64_t>(size, bytes.size())),
          piece.place + distance, image_.machine};
}

std::optional<AddressFacts::Function> StoredImage::FunctionOf(uint32_t index) const {
  if (index == NameFacts::kNone) return std::nullopt;
  const NameFacts::Symbol& symbol = image_.symbols[index];
  return AddressFacts::Function{strings_[symbol.name], symbol.start, symbol.size,
                                symbol.in_symbol_table};
}

template <class Where>
std::optional<AddressFacts> StoredImage::Read(const std::vector<NameFacts::Entry<Where>>& entries,
                                              Where at, size_t& last) {
  const NameFacts::Entry<Where>* const entry = FindEntry(entries, at, last);
  if (entry == nullptr) return std::nullopt;
  AddressFacts facts;
  facts.reason = entry->reason;
  facts.function = FunctionOf(entry->symbol);
  facts.neighbour = FunctionOf(entry->neighbour);
  if (const auto& from = facts.function ? facts.function : facts.neighbour) {
    facts.address = ElfAddress{from->start.value + entry->distance};
  }
  facts.at = {strings_[entry->file], entry->line};
  inlined_.clear();
  for (uint32_t i = entry->inlined; i != NameFacts::kNone; i = image_.inlined[i].caller) {
    const NameFacts::Inlined& inlined = image_.inlined[i];
    inlined_.push_back({strings_[inlined.name], facts.at});
    facts.at = {strings_[inlined.file], inlined.line};
  }
  facts.inlined = inlined_;
  return facts;
}

std::optional<AddressFacts> StoredImage::Find(CodePlace place) {
  return Read(image_.addresses, place, last_address_);
}

std::optional<AddressFacts> StoredImage::FindAt(ElfAddress address) {
  return Read(image_.instructions, address, last_instruction_);
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
