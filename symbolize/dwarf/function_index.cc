#include "symbolize/dwarf/function_index.h"

#include <dwarf.h>

#include <algorithm>

namespace profiler::symbolize::dwarf {
namespace {

// Deeper trees are not of a compiler.
constexpr size_t kMaxDepth = 4096;

bool IsScope(const Abbreviation& entry) {
  return entry.tag == DW_TAG_inlined_subroutine ||
         (entry.tag == DW_TAG_subprogram && entry.has_code);
}

// Functions that are declared only, or described for those that inlined them, and types: what GCC
// defines of them stands elsewhere and refers to them.
bool HasNoCodeInside(const Abbreviation& entry) {
  switch (entry.tag) {
    case DW_TAG_subprogram:
      return !entry.has_code;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_array_type:
      return true;
    default:
      return false;
  }
}

}  // namespace

class FunctionIndex::Walk {
 public:
  Walk(DwarfFile& file, Unit& unit, const IsCode& is_code, FunctionIndex& index)
      : file_(file),
        unit_(unit),
        is_code_(is_code),
        index_(index),
        table_(file.AbbreviationsOf(unit)),
        cursor_(file.section(SectionId::kInfo), unit.root) {
    cursor_.EndAt(unit.end);
    // Many entries may share one list, in a file that wants to be slow.
    range_budget_ = 4 * (unit.end - unit.offset) + 4096;
  }

  void Run() {
    uint32_t around = kNoOwner;   // the scope that the next entry is in
    std::vector<uint32_t> outer;  // those further out, one a level
    while (cursor_.ok() && !cursor_.AtEnd()) {
      const uint64_t entry = cursor_.offset();
      const uint64_t code = cursor_.ReadUleb();
      if (code == 0) {
        if (outer.empty()) break;
        around = outer.back();
        outer.pop_back();
        if (outer.empty()) break;
        continue;
      }
      const Abbreviation* abbreviation = table_.Find(code);
      if (abbreviation == nullptr) break;
      uint32_t inside = around;
      if (IsScope(*abbreviation)) {
        const ReadEntry read = ReadScope(entry, *abbreviation, around);
        if (!read.has_code && JumpTo(read.sibling)) continue;
        inside = read.scope;
      } else if (abbreviation->has_sibling && HasNoCodeInside(*abbreviation)) {
        if (JumpTo(SiblingOf(*abbreviation))) continue;
      } else {
        table_.Skip(cursor_, *abbreviation);
      }
      if (!abbreviation->has_children) continue;
      if (outer.size() == kMaxDepth) break;
      outer.push_back(around);
      around = inside;
    }
    index_.map_.Build();
    index_.scopes_.shrink_to_fit();
  }

 private:
  struct ReadEntry {
    uint32_t scope = kNoOwner;  // that its children are in
    bool has_code = true;       // false for a function that the linker dropped
    uint64_t sibling = 0;       // the offset of the entry behind its children; 0: not told
  };

  // Reads an entry up to its children.
  ReadEntry ReadScope(uint64_t entry, const Abbreviation& abbreviation, uint32_t around) {
    ReadEntry read;
    Scope scope;
    scope.entry = entry;
    scope.inlined = abbreviation.tag == DW_TAG_inlined_subroutine;
    if (scope.inlined) scope.parent = around;
    Value low, high, list;
    for (const AttributeForm& form : table_.AttributesOf(abbreviation)) {
      const Value value = DwarfFile::ReadValue(cursor_, form, unit_.sizes);
      switch (form.attribute) {
        case DW_AT_low_pc:
          low = value;
          break;
        case DW_AT_high_pc:
          high = value;
          break;
        case DW_AT_ranges:
          list = value;
          break;
        case DW_AT_sibling:
          read.sibling = file_.ReferenceOf(unit_, value).offset;
          break;
        case DW_AT_call_file:
          scope.call_file = static_cast<uint32_t>(value.number);
          break;
        case DW_AT_call_line:
          scope.call_line = static_cast<uint32_t>(value.number);
          break;
        case DW_AT_call_column:
          scope.call_column = static_cast<uint32_t>(value.number);
          break;
        default:
          break;
      }
    }
    if (!cursor_.ok()) return read;
    ranges_.clear();
    if (list.form != 0 || high.form != 0) {
      file_.AppendRanges(unit_, low, high, list, range_budget_, ranges_);
      range_budget_ -= ranges_.size();
    }
    const bool is_kept =
        std::any_of(ranges_.begin(), ranges_.end(),
                    [&](const AddressRange& range) { return is_code_(range.start); });
    read.has_code = scope.inlined || is_kept;
    if (!read.has_code) return read;
    read.scope = static_cast<uint32_t>(index_.scopes_.size());
    if (!ranges_.empty()) scope.code = ranges_.front();
    for (const AddressRange& range : ranges_) {
      if (is_code_(range.start)) index_.map_.Add(range.start, range.end, read.scope);
    }
    index_.scopes_.push_back(scope);
    return read;
  }

  uint64_t SiblingOf(const Abbreviation& abbreviation) {
    uint64_t sibling = 0;
    for (const AttributeForm& form : table_.AttributesOf(abbreviation)) {
      const Value value = DwarfFile::ReadValue(cursor_, form, unit_.sizes);
      if (form.attribute == DW_AT_sibling) sibling = file_.ReferenceOf(unit_, value).offset;
    }
    return sibling;
  }

  // Goes on behind an entry's children. False where its sibling is not ahead of it in the unit.
  bool JumpTo(uint64_t sibling) {
    if (!cursor_.ok() || sibling <= cursor_.offset() || sibling >= unit_.end) return false;
    cursor_.Seek(sibling);
    return true;
  }

  DwarfFile& file_;
  Unit& unit_;
  const IsCode& is_code_;
  FunctionIndex& index_;
  const AbbreviationTable& table_;
  Cursor cursor_;
  std::vector<AddressRange> ranges_;
  uint64_t range_budget_ = 0;
};

FunctionIndex FunctionIndex::Read(DwarfFile& file, Unit& unit, const IsCode& is_code) {
  FunctionIndex index;
  Walk(file, unit, is_code, index).Run();
  return index;
}

}  // namespace profiler::symbolize::dwarf
