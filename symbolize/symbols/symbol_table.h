// Symbols in address order: which one covers an address.
//
// Built as perf builds its table, for the rows of a report to be the same as perf's on the same
// recording. Source for the rules: Linux tools/perf/util/symbol.c (symbols__fixup_end,
// choose_best_symbol) as of 7.2.

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

// The string table that a name's offset counts in.
enum class NameArea : uint8_t {
  kSymtab,  // of .symtab; without one, of Go's functions
  kDynsym,  // of .dynsym
  kOwned,   // the symbol table's own
};

struct Symbol {
  uint64_t start = 0;
  uint64_t end = 0;   // exclusive
  uint32_t name = 0;  // offset in `area`, where the name ends with NUL
  uint32_t enclosing = kNone;
  NameArea area = NameArea::kSymtab;
  Binding binding = Binding::kGlobal;
  bool sized = true;  // `end` is what the linker said, else a guess: where the next one starts
  bool typed = true;  // known to be a function or an object, not a mere label
  bool data = false;  // an object, in code or among it
  bool plt = false;   // a stub that calls what it is named after: `name@plt`

  static constexpr uint32_t kNone = ~uint32_t{0};
};

// Immutable once built; safe to share between threads. The names of an ELF file stay in the file,
// which must outlive the table.
class SymbolTable {
 public:
  // The innermost symbol that covers `address`: of those that do, the one that starts last; null
  // when none does. A symbol without size covers its own address. O(log n).
  const Symbol* Find(uint64_t address) const;
  // The same among the symbols whose size is known.
  const Symbol* FindSized(uint64_t address) const;

  std::span<const Symbol> symbols() const { return symbols_; }  // by start, distinct starts
  uint32_t IndexOf(const Symbol& symbol) const {
    return static_cast<uint32_t>(&symbol - symbols_.data());
  }

  // As the linker knows it; without the `@plt` of a stub.
  std::string_view RawName(const Symbol& symbol) const;
  // As a person reads it: demangled, with `@plt`.
  std::string ShownName(const Symbol& symbol) const;

 private:
  friend class SymbolTableBuilder;

  const Symbol* FindIf(uint64_t address, auto&& counts) const;

  std::vector<Symbol> symbols_;
  std::span<const std::byte> symtab_names_;
  std::span<const std::byte> dynsym_names_;
  std::vector<std::byte> owned_names_;
};

// Collects symbols, source by source (.symtab, .dynsym, PLT stubs).
class SymbolTableBuilder {
 public:
  void SetNames(NameArea area, std::span<const std::byte> names);
  // Replaces the table's own names.
  void OwnNames(std::vector<std::byte> names) { table_.owned_names_ = std::move(names); }
  // Appends to the table's own names; the offset there.
  uint32_t AddOwnName(std::string_view name);

  void Reserve(size_t count) { table_.symbols_.reserve(table_.symbols_.size() + count); }
  void Add(const Symbol& symbol) { table_.symbols_.push_back(symbol); }

  // Where a symbol without size ends, given the next symbol in the table.
  using EndOf = std::function<uint64_t(const Symbol& symbol, const Symbol& next)>;

  // Gives symbols without size an end, and keeps one symbol for each start: with a size before
  // without, typed before label, not weak before weak, global before local, fewer leading
  // underscores, longer name, added first.
  void FixUp(const EndOf& end_of);
  void FixUp() {
    FixUp([](const Symbol&, const Symbol& next) { return next.start; });
  }

  // The symbol that starts there, null where none does; after FixUp only.
  const Symbol* FindStart(uint64_t start) const;

  // The table; the builder is empty after it.
  SymbolTable Build();

 private:
  void Sort();
  // Whether `other` is the better of two symbols with one start, `present` having been added first.
  bool Prefers(const Symbol& other, const Symbol& present) const;

  SymbolTable table_;
  size_t sorted_ = 0;  // this many symbols at the front are in order
};

}  // namespace profiler::symbolize
