#include "symbolize/dwarf/dwarf_file.h"

#include <dwarf.h>

#include <algorithm>

namespace profiler::symbolize::dwarf {
namespace {

bool IsStringIndex(uint16_t form) {
  return form == DW_FORM_strx || (form >= DW_FORM_strx1 && form <= DW_FORM_strx4) ||
         form == DW_FORM_GNU_str_index;
}

bool IsAddressIndex(uint16_t form) {
  return form == DW_FORM_addrx || (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4) ||
         form == DW_FORM_GNU_addr_index;
}

std::string_view TextAt(Bytes section, uint64_t offset) {
  return Cursor(section, offset).ReadString();
}

// Where the entries of a table of offsets or addresses begin whose header nobody points behind:
// length, version and two more bytes. Split DWARF 4 has no header.
uint64_t TableHeaderSize(const UnitSizes& sizes) {
  if (sizes.version < 5) return 0;
  return sizes.offset == 8 ? 16 : 8;
}

}  // namespace

DwarfFile::DwarfFile(const ElfImage& image, bool split)
    : split_(split), sections_(Sections::Load(image, split)) {
  // Tables do not overlap, so a sound file needs each byte once.
  abbreviation_budget_ = 2 * section(SectionId::kAbbrev).size() + 4096;
  if (!section(SectionId::kCuIndex).empty()) return;
  uint64_t offset = 0;
  while (std::optional<Unit> unit = ReadHeader(offset, {})) {
    offset = unit->end;
    // Of a version that is not known nothing is known but the size.
    if (unit->sizes.version != 0) units_.push_back(std::make_unique<Unit>(*std::move(unit)));
  }
}

// The header:
//
//   DWARF 2 to 4   length, version u16, abbreviations offset, address size u8
//   DWARF 5        length, version u16, type u8, address size u8, abbreviations offset,
//                  [id u64 of skeletons and split units | signature u64, type offset]
std::optional<Unit> DwarfFile::ReadHeader(uint64_t offset, const Contribution& contribution) const {
  Cursor cursor(section(SectionId::kInfo), offset);
  if (!cursor.ok() || cursor.AtEnd()) return std::nullopt;
  Unit unit;
  unit.offset = offset;
  unit.contribution = contribution;
  const uint64_t length = cursor.ReadInitialLength(unit.sizes.offset);
  unit.end = cursor.offset() + length;
  cursor.EndAt(unit.end);
  const auto version = cursor.Read<uint16_t>();
  if (!cursor.ok()) return std::nullopt;
  if (version < 2 || version > 5) return unit;
  unit.type = DW_UT_compile;
  if (version >= 5) {
    unit.type = cursor.Read<uint8_t>();
    unit.sizes.address = cursor.Read<uint8_t>();
    unit.abbreviations = cursor.ReadSized(unit.sizes.offset);
    if (unit.type == DW_UT_skeleton || unit.type == DW_UT_split_compile) {
      unit.id = cursor.Read<uint64_t>();
    } else if (unit.type == DW_UT_type || unit.type == DW_UT_split_type) {
      cursor.Skip(8 + unit.sizes.offset);
    }
  } else {
    unit.abbreviations = cursor.ReadSized(unit.sizes.offset);
    unit.sizes.address = cursor.Read<uint8_t>();
  }
  unit.abbreviations += contribution.abbreviations;
  unit.root = cursor.offset();
  const bool sound_sizes =
      unit.sizes.address == 2 || unit.sizes.address == 4 || unit.sizes.address == 8;
  if (cursor.ok() && sound_sizes) unit.sizes.version = version;
  return unit;
}

Unit* DwarfFile::UnitAt(uint64_t offset) {
  const auto after =
      std::upper_bound(units_.begin(), units_.end(), offset,
                       [](uint64_t o, const std::unique_ptr<Unit>& u) { return o < u->offset; });
  if (after == units_.begin()) return nullptr;
  Unit* unit = std::prev(after)->get();
  return offset >= unit->root && offset < unit->end ? unit : nullptr;
}

Unit* DwarfFile::AddUnit(const Contribution& contribution) {
  std::optional<Unit> unit = ReadHeader(contribution.info, contribution);
  if (!unit || unit->sizes.version == 0) return nullptr;
  const auto place =
      std::lower_bound(units_.begin(), units_.end(), unit->offset,
                       [](const std::unique_ptr<Unit>& u, uint64_t o) { return u->offset < o; });
  if (place != units_.end() && (*place)->offset == unit->offset) return place->get();
  return units_.insert(place, std::make_unique<Unit>(*std::move(unit)))->get();
}

const AbbreviationTable& DwarfFile::AbbreviationsOf(const Unit& unit) {
  const auto [it, is_new] = abbreviations_.try_emplace({unit.abbreviations, unit.sizes});
  if (is_new) {
    const Bytes all = section(SectionId::kAbbrev);
    // Past the budget tables end early, and with them the units that use them.
    const uint64_t end = unit.abbreviations + abbreviation_budget_;
    const Bytes readable = end < all.size() ? all.first(end) : all;
    it->second = AbbreviationTable::Read(readable, unit.abbreviations, unit.sizes);
    abbreviation_budget_ -= std::min(abbreviation_budget_, it->second.size());
  }
  return it->second;
}

const UnitRoot& DwarfFile::RootOf(Unit& unit) {
  if (unit.parsed_root != nullptr) return *unit.parsed_root;
  unit.parsed_root = std::make_unique<UnitRoot>();
  UnitRoot& root = *unit.parsed_root;
  if (split_) {
    root.string_offsets_base = unit.contribution.string_offsets + TableHeaderSize(unit.sizes);
  }
  const AbbreviationTable& table = AbbreviationsOf(unit);
  Cursor cursor(section(SectionId::kInfo), unit.root);
  cursor.EndAt(unit.end);
  const Abbreviation* abbreviation = table.Find(cursor.ReadUleb());
  if (abbreviation == nullptr) return root;
  root.tag = abbreviation->tag;
  for (const AttributeForm& form : table.AttributesOf(*abbreviation)) {
    const Value value = ReadValue(cursor, form, unit.sizes);
    if (!cursor.ok()) break;
    switch (form.attribute) {
      case DW_AT_low_pc:
        root.low_pc = value;
        break;
      case DW_AT_high_pc:
        root.high_pc = value;
        break;
      case DW_AT_ranges:
        root.ranges = value;
        break;
      case DW_AT_stmt_list:
        root.statements = value;
        break;
      case DW_AT_name:
        root.name = value;
        break;
      case DW_AT_comp_dir:
        root.directory = value;
        break;
      case DW_AT_dwo_name:
      case DW_AT_GNU_dwo_name:
        root.split_name = value;
        break;
      case DW_AT_GNU_dwo_id:
        unit.id = value.number;
        break;
      case DW_AT_str_offsets_base:
        root.string_offsets_base = value.number;
        break;
      case DW_AT_addr_base:
      case DW_AT_GNU_addr_base:
        root.address_base = value.number;
        break;
      case DW_AT_rnglists_base:
        root.range_lists_base = value.number;
        break;
      case DW_AT_GNU_ranges_base:
        root.ranges_base = value.number;
        break;
      default:
        break;
    }
  }
  return root;
}

Value DwarfFile::ReadValue(Cursor& cursor, const AttributeForm& form, const UnitSizes& sizes) {
  Value value;
  value.form = form.form;
  if (value.form == DW_FORM_indirect) {
    const uint64_t actual = cursor.ReadUleb();
    const bool sound = actual != DW_FORM_indirect && actual != DW_FORM_implicit_const &&
                       SizeOfForm(actual, sizes) != kUnknownForm;
    if (!sound) {
      cursor.Fail();
      return {};
    }
    value.form = static_cast<uint16_t>(actual);
  }
  switch (value.form) {
    case DW_FORM_implicit_const:
      value.number = static_cast<uint64_t>(form.constant);
      break;
    case DW_FORM_flag_present:
      value.number = 1;
      break;
    case DW_FORM_string:
      value.text = cursor.ReadString();
      break;
    case DW_FORM_sdata:
      value.number = static_cast<uint64_t>(cursor.ReadSleb());
      break;
    case DW_FORM_data16:
      cursor.Skip(16);
      break;
    case DW_FORM_block:
    case DW_FORM_block1:
    case DW_FORM_block2:
    case DW_FORM_block4:
    case DW_FORM_exprloc:
      SkipVariable(cursor, value.form, sizes);
      break;
    default: {
      const int size = SizeOfForm(value.form, sizes);
      value.number = size >= 0 ? cursor.ReadSized(static_cast<unsigned>(size)) : cursor.ReadUleb();
    }
  }
  return value;
}

std::string_view DwarfFile::StringOf(Unit& unit, const Value& value) {
  switch (value.form) {
    case DW_FORM_string:
      return value.text;
    case DW_FORM_strp:
      return TextAt(section(SectionId::kStr), value.number);
    case DW_FORM_line_strp:
      return TextAt(section(SectionId::kLineStr), value.number);
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
      return alternate_ == nullptr ? std::string_view()
                                   : TextAt(alternate_->section(SectionId::kStr), value.number);
    default:
      break;
  }
  if (!IsStringIndex(value.form)) return {};
  Cursor offsets(section(SectionId::kStrOffsets), RootOf(unit).string_offsets_base);
  if (value.number > offsets.remaining()) return {};
  offsets.Skip(value.number * unit.sizes.offset);
  const uint64_t offset = offsets.ReadSized(unit.sizes.offset);
  return offsets.ok() ? TextAt(section(SectionId::kStr), offset) : std::string_view();
}

std::optional<uint64_t> DwarfFile::AddressOf(Unit& unit, const Value& value) {
  if (value.form == DW_FORM_addr) return value.number;
  if (IsAddressIndex(value.form)) return IndexedAddress(unit, value.number);
  return std::nullopt;
}

std::optional<uint64_t> DwarfFile::IndexedAddress(Unit& unit, uint64_t index) {
  if (unit.skeleton != nullptr) return unit.skeleton_file->IndexedAddress(*unit.skeleton, index);
  Cursor addresses(section(SectionId::kAddr), RootOf(unit).address_base);
  if (index > addresses.remaining()) return std::nullopt;
  addresses.Skip(index * unit.sizes.address);
  const uint64_t address = addresses.ReadSized(unit.sizes.address);
  return addresses.ok() ? std::optional(address) : std::nullopt;
}

EntryReference DwarfFile::ReferenceOf(const Unit& unit, const Value& value) {
  switch (value.form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
      return {this, unit.offset + value.number};
    case DW_FORM_ref_addr:
      return {this, value.number};
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
      return {alternate_, value.number};
    default:
      return {};
  }
}

uint64_t DwarfFile::BaseAddressOf(Unit& unit) {
  if (unit.skeleton != nullptr) return unit.skeleton_file->BaseAddressOf(*unit.skeleton);
  return AddressOf(unit, RootOf(unit).low_pc).value_or(0);
}

void DwarfFile::AppendRanges(Unit& unit, const Value& low, const Value& high, const Value& list,
                             size_t limit, std::vector<AddressRange>& ranges) {
  if (list.form != 0) {
    if (unit.sizes.version < 5) return AppendOldList(unit, list.number, limit, ranges);
    const bool indexed = list.form == DW_FORM_rnglistx;
    const auto offset = indexed ? RangeListAt(unit, list.number) : list.number;
    if (offset) AppendList(unit, *offset, limit, ranges);
    return;
  }
  const auto start = AddressOf(unit, low);
  if (!start || high.form == 0 || limit == 0) return;
  // An address, or else a distance from the low one.
  const uint64_t end = AddressOf(unit, high).value_or(*start + high.number);
  if (end > *start) ranges.push_back({*start, end});
}

// .debug_ranges: pairs of addresses relative to a base; (all ones, base) sets it, (0, 0) is the
// end.
void DwarfFile::AppendOldList(Unit& unit, uint64_t offset, size_t limit,
                              std::vector<AddressRange>& ranges) {
  DwarfFile* home = this;
  if (unit.skeleton != nullptr) {
    home = unit.skeleton_file;
    offset += home->RootOf(*unit.skeleton).ranges_base;
  }
  const unsigned size = unit.sizes.address;
  const uint64_t ones = size == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1;
  uint64_t base = BaseAddressOf(unit);
  Cursor cursor(home->section(SectionId::kRanges), offset);
  for (; limit != 0; --limit) {
    const uint64_t start = cursor.ReadSized(size);
    const uint64_t end = cursor.ReadSized(size);
    if (!cursor.ok() || (start == 0 && end == 0)) return;
    if (start == ones) {
      base = end;
    } else if (start < end) {
      ranges.push_back({base + start, base + end});
    }
  }
}

// .debug_rnglists: a kind in one byte, then its operands.
void DwarfFile::AppendList(Unit& unit, uint64_t offset, size_t limit,
                           std::vector<AddressRange>& ranges) {
  const unsigned size = unit.sizes.address;
  uint64_t base = BaseAddressOf(unit);
  Cursor cursor(section(SectionId::kRngLists), offset);
  for (; limit != 0 && cursor.ok(); --limit) {
    std::optional<uint64_t> start;
    uint64_t end = 0;
    switch (cursor.Read<uint8_t>()) {
      case DW_RLE_base_addressx:
        base = IndexedAddress(unit, cursor.ReadUleb()).value_or(0);
        continue;
      case DW_RLE_base_address:
        base = cursor.ReadSized(size);
        continue;
      case DW_RLE_startx_endx:
        start = IndexedAddress(unit, cursor.ReadUleb());
        end = IndexedAddress(unit, cursor.ReadUleb()).value_or(0);
        break;
      case DW_RLE_startx_length:
        start = IndexedAddress(unit, cursor.ReadUleb());
        end = start.value_or(0) + cursor.ReadUleb();
        break;
      case DW_RLE_offset_pair:
        start = base + cursor.ReadUleb();
        end = base + cursor.ReadUleb();
        break;
      case DW_RLE_start_end:
        start = cursor.ReadSized(size);
        end = cursor.ReadSized(size);
        break;
      case DW_RLE_start_length:
        start = cursor.ReadSized(size);
        end = *start + cursor.ReadUleb();
        break;
      default:  // DW_RLE_end_of_list
        return;
    }
    if (cursor.ok() && start && *start < end) ranges.push_back({*start, end});
  }
}

// The header's offsets count from the first of them. In split files nobody points there.
std::optional<uint64_t> DwarfFile::RangeListAt(Unit& unit, uint64_t index) {
  uint64_t base = RootOf(unit).range_lists_base;
  if (split_ && base == 0) {
    base = unit.contribution.range_lists + (unit.sizes.offset == 8 ? 20 : 12);
  }
  Cursor offsets(section(SectionId::kRngLists), base);
  if (index > offsets.remaining()) return std::nullopt;
  offsets.Skip(index * unit.sizes.offset);
  const uint64_t offset = offsets.ReadSized(unit.sizes.offset);
  return offsets.ok() ? std::optional(base + offset) : std::nullopt;
}

}  // namespace profiler::symbolize::dwarf
