// Which function, and which calls inlined into it, an address of one unit is in.

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

// Whether an address may be one of code. Linkers leave the functions and lines that they dropped at
// 0 or at another address without code.
using IsCode = std::function<bool(uint64_t address)>;

// A DW_TAG_subprogram with code, or a DW_TAG_inlined_subroutine.
struct Scope {
  uint64_t entry = 0;          // offset in .debug_info of the unit's file
  uint32_t parent = kNoOwner;  // the scope that this one was inlined into
  bool inlined = false;
  // Where it was called, of what was inlined. The file is one of the unit's line table.
  uint32_t call_file = 0;
  uint32_t call_line = 0;
  uint32_t call_column = 0;
  AddressRange code;  // its first range
  // Of the function, once somebody looked it up; null until then.
  std::string_view name;
};

// Reads as much of a unit as the look-ups need: few functions of a large program are ever hit, and
// most entries are inside of functions.
//
//   unit ┬ f ─ inlined g ─ inlined h     f at once, what is inside of it for an address in it
//        ├ namespace ─ f2                at once where the namespace's entry does not tell what
//        │                               follows it (clang); else (GCC, which has no code there)
//        for │                               an address that no function outside of namespaces has
//        └ f3 ─ local class ─ f4         code of its own: for an address that no other function has
//
// Not thread-safe. Memory: some 80 bytes a function, or an inlined call in those that were hit.
class FunctionIndex {
 public:
  // The unit, which need not be open between two look-ups; null where it cannot be read.
  using Opener = std::function<std::shared_ptr<OpenUnit>()>;

  FunctionIndex() = default;
  // What cannot be read ends the list of functions, and so does a budget that is spent, here as
  // well as later. `is_code` and `budget` must outlive this.
  FunctionIndex(const OpenUnit& unit, const IsCode& is_code, AttributeBudget& budget);

  // The innermost scope; kNoOwner where no function is.
  uint32_t Find(uint64_t address, const Opener& open);
  // Valid until the next Find.
  Scope& operator[](uint32_t scope) { return scopes_[scope]; }

 private:
  class Walk;

  struct Function {
    uint32_t scope = 0;
    std::optional<IntervalMap> inlined;  // address → scope, in the function; empty: not read yet
  };
  // Where functions are, and which of them is at an address.
  enum Place : uint8_t { kInUnit, kInNamespace, kInFunction };
  static constexpr size_t kPlaceCount = 3;

  uint32_t FunctionAt(uint64_t address, const Opener& open);
  void ReadNamespaces(const Opener& open);
  void ReadFunctions(const Opener& open);
  void ReadInside(uint32_t function, const Opener& open);

  const IsCode* is_code_ = nullptr;
  AttributeBudget* budget_ = nullptr;
  size_t range_budget_ = 0;  // ranges that may still be read
  std::vector<Scope> scopes_;
  std::vector<Function> functions_;
  std::vector<uint64_t> namespaces_;                  // entries of those that were passed over
  std::array<IntervalMap, kPlaceCount> function_at_;  // address → function
  bool has_read_namespaces_ = false;
  bool has_read_functions_ = false;
};

}  // namespace profiler::symbolize::dwarf
