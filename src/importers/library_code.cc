#include "src/importers/library_code.h"

#include <charconv>
#include <utility>

#include "symbolize/symbolizer.h"

namespace profiler::importers {

std::string SymbolFileOf(std::string_view profile) {
  constexpr std::string_view kGzip = ".gz";
  if (profile.ends_with(kGzip)) profile.remove_suffix(kGzip.size());
  return std::string(profile) + ".syms.json";
}

std::vector<std::byte> BuildIdOfText(std::string_view hexadecimal) {
  std::vector<std::byte> bytes;
  if (hexadecimal.size() % 2 != 0) return bytes;
  for (size_t i = 0; i < hexadecimal.size(); i += 2) {
    uint8_t byte = 0;
    const char* const at = hexadecimal.data() + i;
    if (std::from_chars(at, at + 2, byte, 16).ptr != at + 2) return {};
    bytes.push_back(std::byte{byte});
  }
  return bytes;
}

LibraryCode::LibraryCode(std::string_view symbols) {
  if (symbols.empty()) return;
  absl::StatusOr<JsonTree> tree = JsonTree::Parse(symbols);
  if (!tree.ok()) return;
  tree_ = *std::move(tree);
  const std::vector<JsonTree::Value> names = tree_->root()["string_table"].elements();
  for (const JsonTree::Value library : tree_->root()["data"].elements()) {
    Symbols& its = symbols_[std::string(library["code_id"].text())];
    for (const JsonTree::Value symbol : library["symbol_table"].elements()) {
      const auto start = symbol["rva"].index(), size = symbol["size"].index();
      const auto name = symbol["symbol"].index();
      if (!start || !size || !name || *name >= names.size()) continue;
      its[*start] = {*size, names[*name].text()};
    }
  }
}

std::string_view LibraryCode::NameAt(std::string_view code_id, uint64_t address) {
  const auto its = symbols_.find(code_id);
  if (code_id.empty() || its == symbols_.end()) return {};
  const auto after = its->second.upper_bound(address);
  if (after == its->second.begin()) return {};
  const auto& [start, symbol] = *std::prev(after);
  return address - start < symbol.size ? symbol.name : std::string_view();
}

std::optional<uint64_t> LibraryCode::FileOffsetOf(std::string_view path, std::string_view code_id,
                                                  uint64_t address) {
  const auto [known, is_new] = files_.try_emplace(std::string(code_id), std::nullopt);
  if (is_new) {
    symbolize::ImageSpec spec;
    spec.path = path;
    spec.build_id = BuildIdOfText(code_id);
    if (spec.build_id.size() < 2 || !path.starts_with('/')) return std::nullopt;
    constexpr size_t kMostHeaders = 1024;
    known->second = symbolize::OpenImage(spec, {}, kMostHeaders).file;
  }
  if (!known->second || known->second->elf.segments().empty()) return std::nullopt;
  const symbolize::ElfImage& elf = known->second->elf;
  const auto offset = elf.OffsetOf({elf.segments().front().address.value + address});
  return offset ? std::optional(offset->value) : std::nullopt;
}

}  // namespace profiler::importers
