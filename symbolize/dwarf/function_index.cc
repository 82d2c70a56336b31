#include "symbolize/dwarf/function_index.h"

#include <dwarf.h>

#include <algorithm>

namespace profiler::symbolize::dwarf {
namespace {

// Deeper trees are not of a compiler.
constexpr size_t kMaxDepth = 4096;

// Types have no code inside: what is defined of their functions stands elsewhere and refers to
// them.
bool IsType(int tag) {
  switch (tag) {
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

// What is asked of a function or an inlined call.
struct Attributes {
  RangeAttributes code;
  Scope scope;
};

uint32_t NumberOf(Dwarf_Attribute* value) {
  Dwarf_Word number = 0;
  return dwarf_formudata(value, &number) == 0 ? static_cast<uint32_t>(number) : 0;
}

int Collect(Dwarf_Attribute* value, void* into) {
  Attributes& attributes = *static_cast<Attributes*>(into);
  switch (dwarf_whatattr(value)) {
    case DW_AT_low_pc:
      attributes.code.low = *value;
      break;
    case DW_AT_high_pc:
      attributes.code.high = *value;
      break;
    case DW_AT_ranges:
      attributes.code.list = *value;
      break;
    case DW_AT_call_file:
      attributes.scope.call_file = NumberOf(value);
      break;
    case DW_AT_call_line:
      attributes.scope.call_line = NumberOf(value);
      break;
    case DW_AT_call_column:
      attributes.scope.call_column = NumberOf(value);
      break;
    default:
      break;
  }
  return DWARF_CB_OK;
}

}  // namespace

class FunctionIndex::Walk {
 public:
  Walk(const OpenUnit& unit, const IsCode& is_code, FunctionIndex& index)
      : unit_(unit), is_code_(is_code), index_(index) {
    // Many entries may share one list, in a file that wants to be slow.
    range_budget_ = 4 * unit.sections()[SectionId::kInfo].size() + 4096;
  }

  void Run() {
    Dwarf_Die root = unit_.root();
    if (dwarf_child(&root, &at_) != 0) return;
    scopes_.push_back(kNoOwner);
    do {
      uint32_t inside = scopes_.back();
      if (!HasCodeInside(inside) || !GoToChild(inside)) GoOn();
    } while (!scopes_.empty());
    index_.map_.Build();
    index_.scopes_.shrink_to_fit();
  }

 private:
  // Reads the entry that the walk is at. `scope` becomes that of its children.
  bool HasCodeInside(uint32_t& scope) {
    const int tag = dwarf_tag(&at_);
    const bool inlined = tag == DW_TAG_inlined_subroutine;
    if (!inlined && tag != DW_TAG_subprogram) return !IsType(tag);
    Attributes attributes;
    if (dwarf_getattrs(&at_, Collect, &attributes, 0) != 1) return false;
    ranges_.clear();
    DwarfFile::AppendRanges(unit_, at_, attributes.code, range_budget_, ranges_);
    range_budget_ -= ranges_.size();
    const bool is_kept =
        std::any_of(ranges_.begin(), ranges_.end(),
                    [&](const AddressRange& range) { return is_code_(range.start); });
    // Functions that are declared only, or were dropped by the linker.
    if (!inlined && !is_kept) return false;
    scope = AddScope(attributes.scope, inlined ? scope : kNoOwner, inlined);
    return true;
  }

  uint32_t AddScope(Scope scope, uint32_t parent, bool inlined) {
    const auto number = static_cast<uint32_t>(index_.scopes_.size());
    scope.entry = unit_.OffsetOf(at_);
    scope.parent = parent;
    scope.inlined = inlined;
    if (!ranges_.empty()) scope.code = ranges_.front();
    for (const AddressRange& range : ranges_) {
      if (is_code_(range.start)) index_.map_.Add(range.start, range.end, number);
    }
    index_.scopes_.push_back(scope);
    return number;
  }

  bool GoToChild(uint32_t scope) {
    Dwarf_Die child;
    if (scopes_.size() == kMaxDepth || dwarf_child(&at_, &child) != 0) return false;
    scopes_.push_back(scope);
    at_ = child;
    return true;
  }

  // To the next entry that is not below this one. Behind the last sibling libdw tells where the
  // null entry is that ends them, so that what follows their parent need not be looked for:
  //
  //   parent, child, child, null, what follows the parent
  //
  // It tells none where the unit ends without one, or the entry cannot be read.
  void GoOn() {
    Dwarf_Die next;
    const int result = dwarf_siblingof(&at_, &next);
    if (result == 0) {
      at_ = next;
    } else if (result > 0 && next.addr != nullptr) {
      GoBehind(static_cast<const std::byte*>(next.addr));
    } else {
      scopes_.clear();
    }
  }

  // Behind the null entries from `at` on, each of which ends the children of one more entry.
  void GoBehind(const std::byte* at) {
    const Bytes entries = unit_.sections()[SectionId::kInfo];
    const std::byte* const end = entries.data() + entries.size();
    for (; at != end && *at == std::byte{0}; ++at) {
      scopes_.pop_back();
      if (scopes_.empty()) return;
    }
    if (at == end) return scopes_.clear();
    Dwarf_CU* const cu = at_.cu;
    at_ = {};
    at_.addr = const_cast<std::byte*>(at);
    at_.cu = cu;
  }

  const OpenUnit& unit_;
  const IsCode& is_code_;
  FunctionIndex& index_;
  Dwarf_Die at_ = {};
  // The scopes that the parents of this entry put their children in, outermost first. Empty: done.
  std::vector<uint32_t> scopes_;
  std::vector<AddressRange> ranges_;
  uint64_t range_budget_ = 0;
};

FunctionIndex FunctionIndex::Read(const OpenUnit& unit, const IsCode& is_code) {
  FunctionIndex index;
  Walk(unit, is_code, index).Run();
  return index;
}

}  // namespace profiler::symbolize::dwarf
