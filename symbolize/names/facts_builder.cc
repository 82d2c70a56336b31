#include "symbolize/names/facts_builder.h"

#include <algorithm>
#include <optional>

namespace profiler::symbolize {
namespace {

// Sorts entries and removes repetitions; entries with equal keys are equal.
template <class Where>
void SortDistinct(std::vector<NameFacts::Entry<Where>>& entries) {
  std::ranges::sort(entries, {}, &NameFacts::Entry<Where>::at);
  const auto repeated = std::unique(entries.begin(), entries.end(),
                                    [](const auto& a, const auto& b) { return a.at == b.at; });
  entries.erase(repeated, entries.end());
}

// Sorts pieces. If several pieces begin at one address, keeps only the longest.
void SortDistinct(std::vector<NameFacts::Piece>& pieces) {
  std::ranges::sort(pieces, [](const auto& a, const auto& b) {
    if (a.address != b.address) return a.address < b.address;
    return a.bytes.size() > b.bytes.size();
  });
  const auto repeated = std::unique(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) {
    return a.address == b.address;
  });
  pieces.erase(repeated, pieces.end());
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

void NameFactsBuilder::AddAddress(ImageId id, CodePlace place, const AddressFacts& facts) {
  Growing& growing = At(id);
  growing.image.addresses.push_back(EntryAt(growing, place, facts));
}

void NameFactsBuilder::AddInstruction(ImageId id, ElfAddress address, const AddressFacts& facts) {
  Growing& growing = At(id);
  growing.image.instructions.push_back(EntryAt(growing, address, facts));
}

void NameFactsBuilder::AddPiece(ImageId id, ElfAddress address, const CodeBytes& code) {
  NameFacts::Image& image = At(id).image;
  image.machine = code.machine;
  image.pieces.push_back({address, code.place, {code.bytes.begin(), code.bytes.end()}});
}

void NameFactsBuilder::SetCodes(ImageId id, std::span<const JitCode> codes) {
  At(id).codes = codes;
}

template <class Where>
NameFacts::Entry<Where> NameFactsBuilder::EntryAt(Growing& growing, Where at,
                                                  const AddressFacts& facts) {
  NameFacts::Entry<Where> entry{.at = at, .distance = facts.distance(), .reason = facts.reason};
  growing.image.has_debug_info |= facts.has_debug_info;
  if (facts.function) {
    entry.symbol = AddSymbol(growing, *facts.function);
    entry.inlined = AddInlined(growing, facts);
    entry.file = facts_.strings.Intern(facts.innermost().file);
    entry.line = facts.innermost().line;
  }
  if (facts.neighbour) entry.neighbour = AddSymbol(growing, *facts.neighbour);
  return entry;
}

uint32_t NameFactsBuilder::AddSymbol(Growing& growing, const AddressFacts::Function& function) {
  std::vector<NameFacts::Symbol>& symbols = growing.image.symbols;
  const StringId name = facts_.strings.Intern(function.name);
  const auto [known, is_new] = growing.symbols.try_emplace({function.start.value, name},
                                                           static_cast<uint32_t>(symbols.size()));
  if (is_new) {
    symbols.push_back({name, function.start, function.size, function.in_symbol_table});
  }
  return known->second;
}

// Adds calls from the outermost inwards, because an entry refers to its caller's entry.
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

// Distinguishes images with the same path by process. An image that several processes share keeps
// pid 0; an image of one process gets its pid. If several images with one path are shared, a reader
// could not know which of them is meant, so none of them is kept.
void NameFactsBuilder::TellApartByProcess() {
  for (const auto& [path, ids] : by_path_) {
    size_t shared = 0;
    for (const ImageId id : ids) {
      Growing& growing = At(id);
      const bool is_shared =
          std::ranges::any_of(growing.pids, [&](uint32_t pid) { return pid != growing.pids[0]; });
      if (ids.size() > 1 && !is_shared) growing.image.pid = growing.pids[0];
      if (is_shared) ++shared;
    }
    if (shared < 2 || std::get<ImageKind>(path) != ImageKind::kUser) continue;
    for (const ImageId id : ids) {
      if (At(id).image.pid == 0) At(id).image = {};
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
      const CodePlace place = code.offset;
      const auto entry =
          std::ranges::lower_bound(image.addresses, place, {}, &NameFacts::Address::at);
      if (entry == image.addresses.end() || entry->at - place >= code.size) continue;
      image.codes.push_back({code.time, code.start, code.size, code.offset});
    }
    facts_.images.push_back(std::move(image));
  }
  images_.clear();
  facts_.has_lines = has_lines;
  facts_.is_complete = is_complete;
  return std::move(facts_);
}

}  // namespace profiler::symbolize
