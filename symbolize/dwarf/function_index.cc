#include "symbolize/dwarf/function_index.h"

#include <dwarf.h>

#include <algorithm>

namespace profiler::symbolize::dwarf {
namespace {

// Largest depth of nested entries that is followed. No compiler nests entries deeper.
constexpr size_t kMaxDepth = 4096;

bool IsNamespace(int tag) { return tag == DW_TAG_namespace || tag == DW_TAG_module; }

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

bool IsCallSite(int tag) { return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site; }

// The attributes of a function or an inlined call.
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

// A walk over the entries below a given entry.
class FunctionIndex::Walk {
 public:
  Walk(const OpenUnit& unit, FunctionIndex& index) : unit_(unit), index_(index) {}

  void ReadUnit() { Run(unit_.root(), kInUnit, kNoOwner); }

  void ReadNamespace(uint64_t entry) {
    if (const auto at = unit_.EntryAt(entry)) Run(*at, kInNamespace, kNoOwner);
  }

  // Reads the calls inlined into the function of `scope`. Adds their code ranges to `inlined`.
  void ReadFunction(uint32_t scope, IntervalMap& inlined) {
    inlined_ = &inlined;
    if (const auto at = unit_.EntryAt(index_.scopes_[scope].entry)) Run(*at, kInFunction, scope);
  }

 private:
  void Run(Dwarf_Die below, Place place, uint32_t scope) {
    place_ = place;
    if (dwarf_child(&below, &at_) != 0) return;
    scopes_.push_back(scope);
    do {
      uint32_t inside = scopes_.back();
      if (!index_.budget_->Afford(at_)) return scopes_.clear();
      if (!ReadEntry(inside) || !GoToChild(inside)) GoOn();
    } while (!scopes_.empty());
  }

  // Reads the current entry. Sets `scope` to the scope of the entry's children. Returns false if
  // this walk skips the children.
  bool ReadEntry(uint32_t& scope) {
    const int tag = dwarf_tag(&at_);
    if (tag == DW_TAG_inlined_subroutine && place_ == kInFunction) {
      const Scope read = ReadScope();
      scope = AddScope(read, scope, *inlined_, static_cast<uint32_t>(index_.scopes_.size()));
      return true;
    }
    if (tag == DW_TAG_subprogram) {
      const bool has_code = HasAttribute(DW_AT_low_pc) || HasAttribute(DW_AT_ranges);
      if (has_code) AddFunction();
      return !has_code && !HasAttribute(DW_AT_sibling);
    }
    if (place_ == kInFunction) return !IsCallSite(tag);
    if (IsNamespace(tag)) return !PassOver();
    // Skips types that have DW_AT_sibling. GCC writes it, and describes the code of member
    // functions outside of the type. rustc does not write it, and describes the code inside.
    return !IsType(tag) || !HasAttribute(DW_AT_sibling);
  }

  bool HasAttribute(unsigned name) { return dwarf_hasattr(&at_, name) != 0; }

  // Skips the current namespace until a look-up needs it, if DW_AT_sibling makes skipping cheap.
  // Returns true if the namespace was skipped.
  bool PassOver() {
    if (place_ != kInUnit || !HasAttribute(DW_AT_sibling)) return false;
    index_.namespaces_.push_back(unit_.OffsetOf(at_));
    return true;
  }

  // Adds the current function, unless the linker dropped it.
  void AddFunction() {
    const Scope read = ReadScope();
    if (std::none_of(ranges_.begin(), ranges_.end(),
                     [&](const AddressRange& range) { return (*index_.is_code_)(range.start); })) {
      return;
    }
    Function function;
    const auto number = static_cast<uint32_t>(index_.functions_.size());
    function.scope = AddScope(read, kNoOwner, index_.function_at_[place_], number);
    index_.functions_.push_back(std::move(function));
  }

  // Reads the scope of the current entry. Leaves its code ranges in ranges_.
  Scope ReadScope() {
    Attributes attributes;
    attributes.scope.entry = unit_.OffsetOf(at_);
    ranges_.clear();
    if (dwarf_getattrs(&at_, Collect, &attributes, 0) != 1) return attributes.scope;
    DwarfFile::AppendRanges(unit_, at_, attributes.code, index_.range_budget_, ranges_);
    index_.range_budget_ -= ranges_.size();
    if (!ranges_.empty()) attributes.scope.code = ranges_.front();
    return attributes.scope;
  }

  // Adds a scope, and adds its code ranges to `map` with the value `owner`.
  uint32_t AddScope(Scope scope, uint32_t parent, IntervalMap& map, uint32_t owner) {
    scope.parent = parent;
    scope.inlined = parent != kNoOwner;
    for (const AddressRange& range : ranges_) {
      if ((*index_.is_code_)(range.start)) map.Add(range.start, range.end, owner);
    }
    index_.scopes_.push_back(scope);
    return static_cast<uint32_t>(index_.scopes_.size() - 1);
  }

  bool GoToChild(uint32_t scope) {
    Dwarf_Die child;
    if (scopes_.size() == kMaxDepth || dwarf_child(&at_, &child) != 0) return false;
    scopes_.push_back(scope);
    at_ = child;
    return true;
  }

  // Goes to the next entry that is not below the current one. After the last sibling, libdw returns
  // the address of the null entry that ends the list, so finding the next entry needs no search:
  //
  //   parent, child, child, null, entry after the parent
  //
  // libdw returns no address if the unit ends without a null entry, or if the entry cannot be read.
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

  // Skips null entries from `at` on. Each null entry ends the children of one more parent.
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
  FunctionIndex& index_;
  Place place_ = kInUnit;
  IntervalMap* inlined_ = nullptr;  // map to which inlined calls are added; null: none are read
  Dwarf_Die at_ = {};
  // For each open parent of the current entry, outermost first: the scope of the parent's children.
  // If there are none, the walk is done.
  std::vector<uint32_t> scopes_;
  std::vector<AddressRange> ranges_;
};

FunctionIndex::FunctionIndex(const OpenUnit& unit, const IsCode& is_code, AttributeBudget& budget)
    : is_code_(&is_code),
      budget_(&budget),
      // Many entries of a hostile file may share one list.
      range_budget_(4 * unit.sections()[SectionId::kInfo].size() + 4096) {
  Walk(unit, *this).ReadUnit();
  function_at_[kInUnit].Build();
}

uint32_t FunctionIndex::Find(uint64_t address, const Opener& open) {
  const uint32_t function = FunctionAt(address, open);
  if (function == kNoOwner) return kNoOwner;
  if (!functions_[function].inlined) ReadInside(function, open);
  const uint32_t inlined = functions_[function].inlined->Find(address);
  return inlined == kNoOwner ? functions_[function].scope : inlined;
}

uint32_t FunctionIndex::FunctionAt(uint64_t address, const Opener& open) {
  uint32_t function = function_at_[kInUnit].Find(address);
  if (function != kNoOwner) return function;
  if (!has_read_namespaces_) ReadNamespaces(open);
  function = function_at_[kInNamespace].Find(address);
  if (function != kNoOwner) return function;
  if (!has_read_functions_) ReadFunctions(open);
  return function_at_[kInFunction].Find(address);
}

void FunctionIndex::ReadNamespaces(const Opener& open) {
  has_read_namespaces_ = true;
  const std::shared_ptr<OpenUnit> unit = namespaces_.empty() ? nullptr : open();
  if (unit != nullptr) {
    for (const uint64_t entry : namespaces_) Walk(*unit, *this).ReadNamespace(entry);
  }
  function_at_[kInNamespace].Build();
}

void FunctionIndex::ReadFunctions(const Opener& open) {
  has_read_functions_ = true;
  // The size is read anew each time, because ReadInside may append functions.
  for (uint32_t function = 0; function < functions_.size(); ++function) {
    if (!functions_[function].inlined) ReadInside(function, open);
  }
  function_at_[kInFunction].Build();
}

void FunctionIndex::ReadInside(uint32_t function, const Opener& open) {
  IntervalMap inlined;
  if (const std::shared_ptr<OpenUnit> unit = open()) {
    Walk(*unit, *this).ReadFunction(functions_[function].scope, inlined);
  }
  inlined.Build();
  functions_[function].inlined = std::move(inlined);
}

}  // namespace profiler::symbolize::dwarf
