#include "symbolize/symbols/symbol_table.h"

#include <algorithm>
#include <utility>

#include "src/base/byte_reader.h"
#include "src/base/radix_sort.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/symbols/demangle.h"

namespace profiler::symbolize {
namespace {

// The last symbol ends one page after its own page, as in perf, because no symbol follows it.

// Limits the nesting, because in a corrupt table it could be as deep as the table is long.
constexpr int kMaxNesting = 64;

// Longer than any real name. Bounds the cost of a string table without NULs.
constexpr size_t kLongestName = 1 << 16;

std::string_view NameAt(std::span<const std::byte> names, uint32_t offset) {
  if (offset >= names.size()) return {};
  names = names.subspan(offset);
  return StringAt(names.first(std::min(names.size(), kLongestName)), 0);
}

uint64_t RoundUpToPage(uint64_t address) { return (address + kPage - 1) & ~(kPage - 1); }

bool Covers(const Symbol& symbol, uint64_t address) {
  return address < symbol.end || address == symbol.start;
}

size_t LeadingUnderscores(std::string_view name) {
  const size_t count = name.find_first_not_of('_');
  return count == std::string_view::npos ? name.size() : count;
}

// Returns true for the complete and the base constructor of one class, such as `_ZN1AC1Ev` and
// `_ZN1AC2Ev`, or for the complete and the base destructor (D1 and D2). Both names demangle to the
// same text. Most aliases in C++ libraries are such pairs, so this check avoids demangling.
bool AreOneConstructor(std::string_view a, std::string_view b) {
  if (a.size() != b.size() || !a.starts_with("_ZN")) return false;
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin());
  if (in_a == a.end() || !std::equal(in_a + 1, a.end(), in_b + 1)) return false;
  const auto is_kind = [](char c) { return c >= '0' && c <= '5'; };
  const char before = *(in_a - 1);
  return is_kind(*in_a) && is_kind(*in_b) && (before == 'C' || before == 'D');
}

bool StartsBefore(const Symbol& a, const Symbol& b) { return a.start < b.start; }

auto StartsAfter(std::span<const Symbol> symbols, uint64_t address) {
  return std::partition_point(symbols.begin(), symbols.end(),
                              [address](const Symbol& s) { return s.start <= address; });
}

// Sorts by start; stable. Sorts small keys first, which is faster than moving the symbols.
void SortByKeys(std::span<Symbol> symbols) {
  if (std::ranges::is_sorted(symbols, StartsBefore)) return;
  RadixSort order(static_cast<uint32_t>(symbols.size()));
  order.SortBy([&](uint32_t i) { return symbols[i].start; });
  std::vector<Symbol> in_order;
  in_order.reserve(symbols.size());
  for (const uint32_t i : order.Order()) in_order.push_back(symbols[i]);
  std::ranges::copy(in_order, symbols.begin());
}

// Returns true for an assembler label of a loop or branch inside `enclosing`. Such labels get into
// the table with -Wa,-L, or if their names do not begin with .L.
bool IsLabelIn(const Symbol& symbol, const Symbol& enclosing) {
  return !symbol.sized && !symbol.typed && enclosing.sized && enclosing.typed && !enclosing.data;
}

}  // namespace

const Symbol* SymbolTable::FindIf(uint64_t address, auto&& counts) const {
  const std::span<const Symbol> symbols = symbols_;
  const auto after = StartsAfter(symbols, address);
  if (after == symbols.begin()) return nullptr;
  const Symbol* symbol = &*(after - 1);
  for (int depth = 0; depth < kMaxNesting; ++depth) {
    if (Covers(*symbol, address) && counts(*symbol)) return symbol;
    if (symbol->enclosing == Symbol::kNone) return nullptr;
    symbol = &symbols_[symbol->enclosing];
  }
  return nullptr;
}

const Symbol* SymbolTable::Find(uint64_t address) const {
  return FindIf(address, [](const Symbol&) { return true; });
}

const Symbol* SymbolTable::FindSized(uint64_t address) const {
  return FindIf(address, [](const Symbol& symbol) { return symbol.sized; });
}

std::string_view SymbolTable::RawName(const Symbol& symbol) const {
  switch (symbol.area) {
    case NameArea::kSymtab:
      return NameAt(symtab_names_, symbol.name);
    case NameArea::kDynsym:
      return NameAt(dynsym_names_, symbol.name);
    case NameArea::kOwned:
      break;
  }
  return NameAt(owned_names_, symbol.name);
}

std::string SymbolTable::ShownName(const Symbol& symbol) const {
  std::string name = Demangle(RawName(symbol));
  if (symbol.plt) name += "@plt";
  return name;
}

void SymbolTableBuilder::SetNames(NameArea area, std::span<const std::byte> names) {
  (area == NameArea::kSymtab ? table_.symtab_names_ : table_.dynsym_names_) = names;
}

uint32_t SymbolTableBuilder::AddOwnName(std::string_view name) {
  std::vector<std::byte>& names = table_.owned_names_;
  const size_t offset = names.size();
  const std::span<const std::byte> bytes = BytesOfText(name);
  names.insert(names.end(), bytes.begin(), bytes.end());
  names.push_back(std::byte{0});
  return static_cast<uint32_t>(offset);
}

const Symbol* SymbolTableBuilder::FindStart(uint64_t start) const {
  const std::span<const Symbol> symbols = table_.symbols_;
  const auto after = StartsAfter(symbols, start);
  if (after == symbols.begin()) return nullptr;
  const Symbol& symbol = *(after - 1);
  return symbol.start == start ? &symbol : nullptr;
}

// Sorts by start; stable. Symbols sorted by an earlier FixUp stay in order.
void SymbolTableBuilder::Sort() {
  std::vector<Symbol>& symbols = table_.symbols_;
  const auto middle = symbols.begin() + static_cast<ptrdiff_t>(sorted_);
  // In kallsyms, only the symbols of modules at the end are out of order.
  const auto unsorted = std::is_sorted_until(middle, symbols.end(), StartsBefore);
  if (unsorted - middle > symbols.end() - unsorted) {
    SortByKeys({unsorted, symbols.end()});
    std::inplace_merge(middle, unsorted, symbols.end(), StartsBefore);
  } else {
    SortByKeys({middle, symbols.end()});
  }
  std::inplace_merge(symbols.begin(), middle, symbols.end(), StartsBefore);
  sorted_ = symbols.size();
}

bool SymbolTableBuilder::Prefers(const Symbol& other, const Symbol& present) const {
  const auto rank = [](const Symbol& s) {
    return (s.end != s.start ? 8 : 0) + (s.typed ? 4 : 0) + (s.binding != Binding::kWeak ? 2 : 0) +
           (s.binding == Binding::kGlobal ? 1 : 0);
  };
  const int other_rank = rank(other);
  const int present_rank = rank(present);
  if (other_rank != present_rank) return other_rank > present_rank;
  const std::string_view other_raw = table_.RawName(other);
  const std::string_view present_raw = table_.RawName(present);
  // Common cases need no demangling: .dynsym repeats .symtab, and constructors come in pairs.
  if (other_raw == present_raw || AreOneConstructor(other_raw, present_raw)) return false;
  const std::string present_name = table_.ShownName(present);
  const std::string other_name = table_.ShownName(other);
  const size_t other_underscores = LeadingUnderscores(other_name);
  const size_t present_underscores = LeadingUnderscores(present_name);
  if (other_underscores != present_underscores) return other_underscores < present_underscores;
  return other_name.size() > present_name.size();
}

void SymbolTableBuilder::FixUp(const EndOf& end_of) {
  std::vector<Symbol>& symbols = table_.symbols_;
  if (symbols.empty()) return;
  Sort();
  for (size_t i = 0; i < symbols.size(); ++i) {
    Symbol& symbol = symbols[i];
    if (symbol.end != symbol.start) continue;
    symbol.sized = false;
    const bool last = i + 1 == symbols.size();
    symbol.end = last ? RoundUpToPage(symbol.start) + kPage : end_of(symbol, symbols[i + 1]);
  }

  size_t kept = 0;
  for (size_t i = 1; i < symbols.size(); ++i) {
    if (symbols[i].start != symbols[kept].start) {
      symbols[++kept] = symbols[i];
    } else if (Prefers(symbols[i], symbols[kept])) {
      symbols[kept] = symbols[i];
    }
  }
  symbols.resize(kept + 1);
  sorted_ = symbols.size();
}

// Sets each symbol's `enclosing` to the nearest previous symbol that is still open at its start:
//
//   A |-------------------------|        A encloses B, C and D, so an address after the
//   B    |------|                        end of C and before D belongs to A
//   C              |--|
//   D                      |--|
SymbolTable SymbolTableBuilder::Build() {
  Sort();
  std::vector<Symbol>& symbols = table_.symbols_;
  std::vector<uint32_t> open;
  size_t kept = 0;
  for (const Symbol& symbol : symbols) {
    while (!open.empty() && symbols[open.back()].end <= symbol.start) open.pop_back();
    const uint32_t enclosing = open.empty() ? Symbol::kNone : open.back();
    if (enclosing != Symbol::kNone && IsLabelIn(symbol, symbols[enclosing])) continue;
    open.push_back(static_cast<uint32_t>(kept));
    symbols[kept] = symbol;
    symbols[kept++].enclosing = enclosing;
  }
  symbols.resize(kept);
  sorted_ = 0;
  return std::exchange(table_, {});
}

}  // namespace profiler::symbolize
