// Which function, and which calls inlined into it, an address of one unit is in.

#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

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

// Immutable but for the names. Memory: some 80 bytes a scope.
class FunctionIndex {
 public:
  // One walk over the unit's entries. What cannot be read ends it.
  static FunctionIndex Read(const OpenUnit& unit, const IsCode& is_code);

  // The innermost scope; kNoOwner where no function is.
  uint32_t Find(uint64_t address) const { return map_.Find(address); }
  Scope& operator[](uint32_t scope) { return scopes_[scope]; }
  const std::vector<Scope>& scopes() const { return scopes_; }

 private:
  class Walk;

  std::vector<Scope> scopes_;
  IntervalMap map_;
};

}  // namespace profiler::symbolize::dwarf
