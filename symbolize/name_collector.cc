#include "symbolize/name_collector.h"

#include <algorithm>

namespace profiler::symbolize {
namespace {

std::string_view LinkageName(const NamedFunction& function) {
  return function.linkage_name.empty() ? function.name : function.linkage_name;
}

// Those at one place are equal, but for pieces: the longest one comes first.
void SortDistinct(std::vector<EmbeddedNames::Address>& addresses) {
  std::ranges::sort(addresses, {}, &EmbeddedNames::Address::offset);
  addresses.erase(std::unique(addresses.begin(), addresses.end(),
                              [](const auto& a, const auto& b) { return a.offset == b.offset; }),
                  addresses.end());
}

void SortDistinct(std::vector<EmbeddedNames::Piece>& pieces) {
  std::ranges::sort(pieces, [](const auto& a, const auto& b) {
    if (a.address != b.address) return a.address < b.address;
    return a.bytes.size() > b.bytes.size();
  });
  pieces.erase(std::unique(pieces.begin(), pieces.end(),
                           [](const auto& a, const auto& b) { return a.address == b.address; }),
               pieces.end());
}

bool IsEmpty(const EmbeddedNames::Image& image) {
  return image.addresses.empty() && image.instructions.empty() && image.pieces.empty();
}

}  // namespace

ImageId NameCollector::AddImage(const ImageSpec& spec) {
  const ImageId id = source_.AddImage(spec);
  const auto index = static_cast<size_t>(id);
  if (index >= images_.size()) images_.resize(index + 1);
  if (images_[index] == nullptr) {
    images_[index] = std::make_unique<Collected>();
    EmbeddedNames::Image& image = images_[index]->image;
    image.kind = static_cast<uint8_t>(spec.kind);
    image.path = names_.strings.Intern(spec.path);
    image.build_id = spec.build_id;
    by_place_[{spec.kind, spec.path, spec.build_id}].push_back(id);
  }
  std::vector<uint32_t>& pids = images_[index]->pids;
  if (pids.empty() || pids.back() != spec.pid) pids.push_back(spec.pid);
  return id;
}

bool NameCollector::GoesOn() {
  names_.is_complete = names_.is_complete && go_on_();
  return names_.is_complete;
}

Naming NameCollector::Name(ImageId id, FileOffset offset) {
  if (!GoesOn()) return {};
  const Naming naming = source_.Name(id, offset);
  Collected& collected = *images_[static_cast<size_t>(id)];
  Remember(collected, offset.value, naming, collected.image.addresses);
  return naming;
}

Naming NameCollector::NameAt(ImageId id, ElfAddress address) {
  if (!names_.is_complete) return {};
  const Naming naming = source_.NameAt(id, address);
  Collected& collected = *images_[static_cast<size_t>(id)];
  Remember(collected, address.value, naming, collected.image.instructions);
  return naming;
}

CodeBytes NameCollector::CodeAt(ImageId id, ElfAddress address, uint64_t size) {
  if (!GoesOn()) return {};
  const CodeBytes code = source_.CodeAt(id, address, size);
  if (code.bytes.empty()) return code;
  EmbeddedNames::Image& image = images_[static_cast<size_t>(id)]->image;
  image.machine = code.machine;
  image.pieces.push_back(
      {address.value, code.offset.value, {code.bytes.begin(), code.bytes.end()}});
  return code;
}

void NameCollector::Remember(Collected& collected, uint64_t place, const Naming& naming,
                             std::vector<EmbeddedNames::Address>& addresses) {
  EmbeddedNames::Address& address = addresses.emplace_back();
  address.offset = place;
  address.distance = naming.distance;
  address.reason = static_cast<uint8_t>(naming.reason);
  collected.image.has_debug_info |= naming.has_debug_info;
  if (!naming.functions.empty()) {
    address.symbol = AddSymbol(collected, naming.functions.back(), !naming.without_symbol);
    address.inlined = AddInlined(collected, naming.functions);
    address.file = names_.strings.Intern(naming.functions.front().file);
    address.line = naming.functions.front().line;
  } else if (naming.unnamed_size != 0) {
    NamedFunction function;
    function.start = naming.unnamed_start;
    function.size = naming.unnamed_size;
    address.symbol = AddSymbol(collected, function, true);
  }
  if (!naming.neighbour.name.empty()) {
    address.neighbour = AddSymbol(collected, naming.neighbour, true);
  }
}

absl::StatusOr<std::span<const JitCode>> NameCollector::JitCodes(ImageId dump) {
  absl::StatusOr<std::span<const JitCode>> codes = source_.JitCodes(dump);
  if (codes.ok()) images_[static_cast<size_t>(dump)]->codes = *codes;
  return codes;
}

uint32_t NameCollector::AddSymbol(Collected& collected, const NamedFunction& function,
                                  bool in_symbol_table) {
  std::vector<EmbeddedNames::Symbol>& symbols = collected.image.symbols;
  const StringId name = names_.strings.Intern(LinkageName(function));
  const auto [known, is_new] = collected.symbols.try_emplace({function.start.value, name},
                                                             static_cast<uint32_t>(symbols.size()));
  if (is_new) symbols.push_back({name, function.start.value, function.size, in_symbol_table});
  return known->second;
}

// From the outermost in, for each entry is that of a function in its caller's.
uint32_t NameCollector::AddInlined(Collected& collected, std::span<const NamedFunction> functions) {
  std::vector<EmbeddedNames::Inlined>& inlined = collected.image.inlined;
  uint32_t caller = EmbeddedNames::kNone;
  for (size_t i = functions.size() - 1; i > 0; --i) {
    const NamedFunction& function = functions[i - 1];
    const EmbeddedNames::Inlined entry = {.name = names_.strings.Intern(LinkageName(function)),
                                          .caller = caller,
                                          .file = names_.strings.Intern(functions[i].file),
                                          .line = functions[i].line};
    const auto [known, is_new] = collected.inlined.try_emplace(
        {entry.name, entry.caller, entry.file, entry.line}, static_cast<uint32_t>(inlined.size()));
    if (is_new) inlined.push_back(entry);
    caller = known->second;
  }
  return caller;
}

EmbeddedNames NameCollector::Take(bool has_lines) {
  names_.has_lines = has_lines;
  // Where one path has several images, the processes tell which: those that share one are the rule,
  // and what only one process has goes by its number.
  for (auto& [place, ids] : by_place_) {
    for (const ImageId id : ids) {
      Collected& collected = *images_[static_cast<size_t>(id)];
      const bool is_shared = std::any_of(collected.pids.begin(), collected.pids.end(),
                                         [&](uint32_t pid) { return pid != collected.pids[0]; });
      if (ids.size() > 1 && !is_shared) collected.image.pid = collected.pids[0];
    }
  }
  for (const auto& collected : images_) {
    if (collected == nullptr || IsEmpty(collected->image)) continue;
    auto& addresses = collected->image.addresses;
    SortDistinct(addresses);
    SortDistinct(collected->image.instructions);
    SortDistinct(collected->image.pieces);
    for (const JitCode& code : collected->codes) {
      const auto hit = std::lower_bound(
          addresses.begin(), addresses.end(), code.offset.value,
          [](const EmbeddedNames::Address& a, uint64_t offset) { return a.offset < offset; });
      if (hit == addresses.end() || hit->offset - code.offset.value >= code.size) continue;
      collected->image.codes.push_back({code.time, code.start.value, code.size, code.offset.value});
    }
    names_.images.push_back(std::move(collected->image));
  }
  images_.clear();
  return std::move(names_);
}

}  // namespace profiler::symbolize
