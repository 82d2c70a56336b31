// Finds the function of one unit that contains an address, and the inlined calls there.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "symbolize/dwarf/attribute_budget.h"
#include "symbolize/dwarf/dwarf_file.h"
#include "symbolize/dwarf/interval_map.h"

namespace profiler::symbolize::dwarf {

// Returns true if an address may contain code. Linkers set functions and lines that they dropped to
// address 0 or to another address without code.
using IsCode = std::function<bool(uint64_t address)>;

// A DW_TAG_subprogram with code, or a DW_TAG_inlined_subroutine.
struct Scope {
  uint64_t entry = 0;          // offset in .debug_info of the unit's file
  uint32_t parent = kNoOwner;  // scope into which this scope is inlined; kNoOwner: a function
  bool inlined = false;
  // Position of the call, for an inlined scope. `call_file` is an index of the unit's line table.
  uint32_t call_file = 0;
  uint32_t call_line = 0;
  uint32_t call_column = 0;
  AddressRange code;  // the first of its address ranges
  // Name of the function; null until the first look-up.
  std::string_view name;
};

// The functions of a unit. Reads only the entries that look-ups need, because look-ups hit few
// functions of a large program, and most entries lie inside functions. Entries are read at once or
// by a later look-up:
//
//   unit ┬ f ─ inlined g ─ inlined h     f: at once; g and h: on the first look-up in f
//        ├ namespace ─ f2                clang (no DW_AT_sibling): at once;
//        │                               GCC (no code in namespaces): if no function outside of
//        │                               namespaces contains the address
//        └ f3 ─ local class ─ f4         if no other function contains the address
//
// Not thread-safe. Memory: about 80 bytes per function, and per inlined call in functions that were
// hit.
class FunctionIndex {
 public:
  // Opens the unit, which may be closed between look-ups. Returns null if it cannot be read.
  using Opener = std::function<std::shared_ptr<OpenUnit>()>;

  FunctionIndex() = default;
  // Reads the functions of the unit. Reading stops at an entry that cannot be read or if the budget
  // is spent, now and in later look-ups. `is_code` and `budget` must outlive this object.
  FunctionIndex(const OpenUnit& unit, const IsCode& is_code, AttributeBudget& budget);

  // Returns the innermost scope at an address; kNoOwner if there is no function.
  uint32_t Find(uint64_t address, const Opener& open);
  // Returns the scope with number `scope`. The reference is valid until the next Find.
  Scope& operator[](uint32_t scope) { return scopes_[scope]; }

 private:
  class Walk;

  struct Function {
    uint32_t scope = 0;
    // Maps addresses in the function to scopes; empty: not read yet.
    std::optional<IntervalMap> inlined;
  };
  // Kinds of places in the unit at which a function's entry may be. Used as index of function_at_.
  enum Place : uint8_t { kInUnit, kInNamespace, kInFunction };
  static constexpr size_t kPlaceCount = 3;

  uint32_t FunctionAt(uint64_t address, const Opener& open);
  void ReadNamespaces(const Opener& open);
  void ReadFunctions(const Opener& open);
  void ReadInside(uint32_t function, const Opener& open);

  const IsCode* is_code_ = nullptr;
  AttributeBudget* budget_ = nullptr;
  size_t range_budget_ = 0;  // address ranges that may still be read
  std::vector<Scope> scopes_;
  std::vector<Function> functions_;
  std::vector<uint64_t> namespaces_;                  // offsets of namespaces that were skipped
  std::array<IntervalMap, kPlaceCount> function_at_;  // each maps addresses to functions_
  bool has_read_namespaces_ = false;
  bool has_read_functions_ = false;
};

}  // namespace profiler::symbolize::dwarf
