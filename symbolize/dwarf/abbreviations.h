// What the entries (DIEs) of a unit look like: an entry is the number of an abbreviation, then one
// value for each attribute that the abbreviation lists.
//
//   .debug_abbrev   code, tag, has children, { attribute, form, [constant] }…, 0 0
//   .debug_info     code, value, value, …
//
// Source: DWARF 5, 7.5.3 to 7.5.6; the GNU forms of split and alternate files as GCC and dwz write
// them.

#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "symbolize/dwarf/cursor.h"

namespace profiler::symbolize::dwarf {

// The sizes that some forms depend on.
struct UnitSizes {
  uint16_t version = 0;
  uint8_t address = 8;
  uint8_t offset = 4;
  auto operator<=>(const UnitSizes&) const = default;
};

struct AttributeForm {
  uint16_t attribute = 0;  // DW_AT_…
  uint16_t form = 0;       // DW_FORM_…
  int64_t constant = 0;    // of DW_FORM_implicit_const
};

// One stretch of an entry to be passed over: bytes of known number, then a value that tells its own
// size (form 0: none).
struct SkipStep {
  uint32_t bytes = 0;
  uint16_t form = 0;
};

struct Abbreviation {
  uint16_t tag = 0;  // DW_TAG_…; 0: there is no such code
  bool has_children = false;
  bool has_sibling = false;
  bool has_code = false;  // DW_AT_low_pc or DW_AT_ranges
  uint32_t first_attribute = 0;
  uint32_t attribute_count = 0;
  uint32_t first_step = 0;
  uint32_t step_count = 0;
};

// The size of a form's value; kVariableSize where the value tells it, kUnknownForm where there is
// no such form.
inline constexpr int kVariableSize = -1;
inline constexpr int kUnknownForm = -2;
int SizeOfForm(uint64_t form, const UnitSizes& sizes);

// Passes over a value whose size is kVariableSize. Fails at unknown forms.
void SkipVariable(Cursor& cursor, uint64_t form, const UnitSizes& sizes);

class AbbreviationTable {
 public:
  // Reads from `offset` to the table's end. What cannot be read ends it: later codes are not found.
  static AbbreviationTable Read(Bytes section, uint64_t offset, const UnitSizes& sizes);

  // Null where there is no such code.
  const Abbreviation* Find(uint64_t code) const {
    if (code - 1 < dense_.size()) return &dense_[code - 1];
    const auto it = sparse_.find(code);
    return it == sparse_.end() ? nullptr : &it->second;
  }

  std::span<const AttributeForm> AttributesOf(const Abbreviation& abbreviation) const {
    return std::span(attributes_)
        .subspan(abbreviation.first_attribute, abbreviation.attribute_count);
  }
  // Passes over all values of an entry.
  void Skip(Cursor& cursor, const Abbreviation& abbreviation) const {
    const SkipStep* step = steps_.data() + abbreviation.first_step;
    for (const SkipStep* end = step + abbreviation.step_count; step != end; ++step) {
      cursor.Skip(step->bytes);
      if (step->form != 0) SkipVariable(cursor, step->form, sizes_);
    }
  }

  uint64_t size() const { return size_; }  // in the section

 private:
  bool ReadOne(Cursor& cursor, uint64_t code);
  void AddSteps(Abbreviation& abbreviation);

  UnitSizes sizes_;
  uint64_t size_ = 0;
  std::vector<Abbreviation> dense_;  // code − 1, as compilers number them
  std::unordered_map<uint64_t, Abbreviation> sparse_;
  std::vector<AttributeForm> attributes_;
  std::vector<SkipStep> steps_;
};

}  // namespace profiler::symbolize::dwarf
