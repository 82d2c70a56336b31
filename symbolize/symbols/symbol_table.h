// Finds the symbol that covers an address.
//
// Follows perf's rules, so that the rows of a report equal perf's on the same recording. Source:
// Linux tools/perf/util/symbol.c (symbols__fixup_end, choose_best_symbol) as of 7.2.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::symbolize {

enum class Binding : uint8_t { kLocal, kGlobal, kWeak };

// The string table that contains a name.
enum class NameArea : uint8_t {
  kSymtab,  // .strtab of .symtab; without .symtab, the names of Go's functions
  kDynsym,  // .dynstr of .dynsym
  kOwned,   // names that the symbol table owns
};

struct Symbol {
  uint64_t start = 0;
  uint64_t end = 0;   // first address after the symbol
  uint32_t name = 0;  // offset in `area`; NUL-terminated
  uint32_t enclosing = kNone;
  NameArea area = NameArea::kSymtab;
  Binding binding = Binding::kGlobal;
  bool sized = true;  // true if the linker set `end`; false: guessed from the next start
  bool typed = true;  // true for a function or an object; false: a label
  bool data = false;  // true for an object, in or between code
  bool plt = false;   // true for a stub of the named function: `name@plt`

  static constexpr uint32_t kNone = ~uint32_t{0};
};

// Symbols, sorted by address. Immutable once built, so thread-safe. Names of an ELF file stay in
// the file, which must outlive the table.
class SymbolTable {
 public:
  // Returns the innermost symbol that covers `address`, which is the one with the last start; null:
  // none. A symbol without size covers its own address. O(log n).
  const Symbol* Find(uint64_t address) const;
  // Like Find, but ignores symbols without a size.
  const Symbol* FindSized(uint64_t address) const;

  std::span<const Symbol> symbols() const { return symbols_; }  // sorted by start, distinct starts
  uint32_t IndexOf(const Symbol& symbol) const {
    return static_cast<uint32_t>(&symbol - symbols_.data());
  }

  // Returns the linkage name, without the `@plt` of a stub.
  std::string_view RawName(const Symbol& symbol) const;
  // Returns the readable name: demangled, with `@plt`.
  std::string ShownName(const Symbol& symbol) const;

 private:
  friend class SymbolTableBuilder;

  const Symbol* FindIf(uint64_t address, auto&& counts) const;

  std::vector<Symbol> symbols_;
  std::span<const std::byte> symtab_names_;
  std::span<const std::byte> dynsym_names_;
  std::vector<std::byte> owned_names_;
};

// A builder of a symbol table from several sources (.symtab, .dynsym, PLT stubs).
class SymbolTableBuilder {
 public:
  void SetNames(NameArea area, std::span<const std::byte> names);
  // Sets the text of NameArea::kOwned.
  void OwnNames(std::vector<std::byte> names) { table_.owned_names_ = std::move(names); }
  // Appends a name to the text of NameArea::kOwned and returns its offset.
  uint32_t AddOwnName(std::string_view name);

  void Reserve(size_t count) { table_.symbols_.reserve(table_.symbols_.size() + count); }
  void Add(const Symbol& symbol) { table_.symbols_.push_back(symbol); }

  // Returns the end of a symbol without size, given the next symbol in the table.
  using EndOf = std::function<uint64_t(const Symbol& symbol, const Symbol& next)>;

  // Gives symbols without size an end, and keeps one symbol per start. Preferred are, in this
  // order: with size, typed, not weak, global, fewer leading underscores, longer name, added first.
  void FixUp(const EndOf& end_of);
  void FixUp() {
    FixUp([](const Symbol&, const Symbol& next) { return next.start; });
  }

  // Returns the symbol that starts at `start`; null: none. Only after FixUp.
  const Symbol* FindStart(uint64_t start) const;

  // Returns the table. The builder is empty afterwards.
  SymbolTable Build();

 private:
  void Sort();
  // Returns true if `other` is better than `present`. Both have the same start; `present` was added
  // first.
  bool Prefers(const Symbol& other, const Symbol& present) const;

  SymbolTable table_;
  size_t sorted_ = 0;  // number of sorted symbols at the front
};

}  // namespace profiler::symbolize
