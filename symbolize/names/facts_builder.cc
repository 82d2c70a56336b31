#include "symbolize/names/facts_builder.h"

#include <algorithm>
#include <optional>

namespace profiler::symbolize {
namespace {

// Addresses at one place are equal.
void SortDistinct(std::vector<NameFacts::Address>& addresses) {
  std::ranges::sort(addresses, {}, &NameFacts::Address::offset);
  const auto repeated = std::ranges::unique(addresses, {}, &NameFacts::Address::offset);
  addresses.erase(repeated.begin(), repeated.end());
}

// Of the pieces at one place the longest is kept.
void SortDistinct(std::vector<NameFacts::Piece>& pieces) {
  std::ranges::sort(pieces, [](const auto& a, const auto& b) {
    if (a.address != b.address) return a.address < b.address;
    return a.bytes.size() > b.bytes.size();
  });
  const auto repeated = std::ranges::unique(pieces, {}, &NameFacts::Piece::address);
  pieces.erase(repeated.begin(), repeated.end());
}

bool IsEmpty(const NameFacts::Image& image) {
  return image.addresses.empty() && image.instructions.empty() && image.pieces.empty();
}

}  // namespace

void NameFactsBuilder::AddImage(ImageId id, const ImageSpec& spec) {
  const auto index = static_cast<size_t>(id);
  if (index >= images_.size()) images_.resize(index + 1);
  if (images_[index] == nullptr) {
    images_[index] = std::make_unique<Growing>();
    NameFacts::Image& image = images_[index]->image;
    image.kind = spec.kind;
    image.path = facts_.strings.Intern(spec.path);
    image.build_id = spec.build_id;
    by_path_[{spec.kind, spec.path, spec.build_id}].push_back(id);
  }
  std::vector<uint32_t>& pids = images_[index]->pids;
  if (pids.empty() || pids.back() != spec.pid) pids.push_back(spec.pid);
}

void NameFactsBuilder::AddAddress(ImageId id, FileOffset offset, const AddressFacts& facts) {
  Growing& growing = At(id);
  growing.image.addresses.push_back(AddressOf(growing, offset.value, facts));
}

void NameFactsBuilder::AddInstruction(ImageId id, ElfAddress address, const AddressFacts& facts) {
  Growing& growing = At(id);
  growing.image.instructions.push_back(AddressOf(growing, address.value, facts));
}

void NameFactsBuilder::AddPiece(ImageId id, ElfAddress address, const CodeBytes& code) {
  NameFacts::Image& image = At(id).image;
  image.machine = code.machine;
  image.pieces.push_back(
      {address.value, code.offset.value, {code.bytes.begin(), code.bytes.end()}});
}

void NameFactsBuilder::SetCodes(ImageId id, std::span<const JitCode> codes) {
  At(id).codes = codes;
}

NameFacts::Address NameFactsBuilder::AddressOf(Growing& growing, uint64_t place,
                                               const AddressFacts& facts) {
  NameFacts::Address address;
  address.offset = place;
  address.distance = facts.distance();
  address.reason = facts.reason;
  growing.image.has_debug_info |= facts.has_debug_info;
  if (facts.function) {
    address.symbol = AddSymbol(growing, *facts.function);
    address.inlined = AddInlined(growing, facts);
    address.file = facts_.strings.Intern(facts.innermost().file);
    address.line = facts.innermost().line;
  }
  if (facts.neighbour) address.neighbour = AddSymbol(growing, *facts.neighbour);
  return address;
}

uint32_t NameFactsBuilder::AddSymbol(Growing& growing, const AddressFacts::Function& function) {
  std::vector<NameFacts::Symbol>& symbols = growing.image.symbols;
  const StringId name = facts_.strings.Intern(function.name);
  const auto [known, is_new] = growing.symbols.try_emplace({function.start.value, name},
                                                           static_cast<uint32_t>(symbols.size()));
  if (is_new) {
    symbols.push_back({name, function.start.value, function.size, function.in_symbol_table});
  }
  return known->second;
}

// From the outermost in, for each entry is that of a function in its caller's.
uint32_t NameFactsBuilder::AddInlined(Growing& growing, const AddressFacts& facts) {
  std::vector<NameFacts::Inlined>& inlined = growing.image.inlined;
  uint32_t caller = NameFacts::kNone;
  const AddressFacts::Line* call = &facts.at;
  for (size_t i = facts.inlined.size(); i-- > 0; call = &facts.inlined[i].at) {
    const NameFacts::Inlined entry = {.name = facts_.strings.Intern(facts.inlined[i].name),
                                      .caller = caller,
                                      .file = facts_.strings.Intern(call->file),
                                      .line = call->line};
    const auto [known, is_new] = growing.inlined.try_emplace(
        {entry.name, entry.caller, entry.file, entry.line}, static_cast<uint32_t>(inlined.size()));
    if (is_new) inlined.push_back(entry);
    caller = known->second;
  }
  return caller;
}

// Where one path has several images, the processes tell which: those that share one are the rule,
// and what only one process has goes by its number.
void NameFactsBuilder::TellApartByProcess() {
  for (const auto& [path, ids] : by_path_) {
    for (const ImageId id : ids) {
      Growing& growing = At(id);
      const bool is_shared =
          std::ranges::any_of(growing.pids, [&](uint32_t pid) { return pid != growing.pids[0]; });
      if (ids.size() > 1 && !is_shared) growing.image.pid = growing.pids[0];
    }
  }
}

NameFacts NameFactsBuilder::Take(bool has_lines, bool is_complete) {
  TellApartByProcess();
  for (const auto& growing : images_) {
    if (growing == nullptr || IsEmpty(growing->image)) continue;
    NameFacts::Image& image = growing->image;
    SortDistinct(image.addresses);
    SortDistinct(image.instructions);
    SortDistinct(image.pieces);
    for (const JitCode& code : growing->codes) {
      const auto hit = std::ranges::lower_bound(image.addresses, code.offset.value, {},
                                                &NameFacts::Address::offset);
      if (hit == image.addresses.end() || hit->offset - code.offset.value >= code.size) continue;
      image.codes.push_back({code.time, code.start.value, code.size, code.offset.value});
    }
    facts_.images.push_back(std::move(image));
  }
  images_.clear();
  facts_.has_lines = has_lines;
  facts_.is_complete = is_complete;
  return std::move(facts_);
}

}  // namespace profiler::symbolize
