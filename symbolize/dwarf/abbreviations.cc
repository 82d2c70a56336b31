#include "symbolize/dwarf/abbreviations.h"

#include <dwarf.h>

namespace profiler::symbolize::dwarf {

int SizeOfForm(uint64_t form, const UnitSizes& sizes) {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_addr:
      return sizes.address;
    case DW_FORM_ref_addr:  // an address in DWARF 2
      return sizes.version <= 2 ? sizes.address : sizes.offset;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return sizes.offset;
    case DW_FORM_string:
    case DW_FORM_block:
    case DW_FORM_block1:
    case DW_FORM_block2:
    case DW_FORM_block4:
    case DW_FORM_exprloc:
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
    case DW_FORM_indirect:
      return kVariableSize;
    default:
      return kUnknownForm;
  }
}

void SkipVariable(Cursor& cursor, uint64_t form, const UnitSizes& sizes) {
  switch (form) {
    case DW_FORM_string:
      cursor.ReadString();
      return;
    case DW_FORM_block:
    case DW_FORM_exprloc:
      return cursor.Skip(cursor.ReadUleb());
    case DW_FORM_block1:
      return cursor.Skip(cursor.Read<uint8_t>());
    case DW_FORM_block2:
      return cursor.Skip(cursor.Read<uint16_t>());
    case DW_FORM_block4:
      return cursor.Skip(cursor.Read<uint32_t>());
    case DW_FORM_indirect: {
      // The form stands before the value. Once: a chain of them is of no use.
      const uint64_t actual = cursor.ReadUleb();
      const int size = SizeOfForm(actual, sizes);
      if (size >= 0) return cursor.Skip(static_cast<uint64_t>(size));
      if (actual == DW_FORM_indirect) return cursor.Fail();
      return SkipVariable(cursor, actual, sizes);
    }
    default:
      if (SizeOfForm(form, sizes) != kVariableSize) return cursor.Fail();
      cursor.SkipLeb();
  }
}

AbbreviationTable AbbreviationTable::Read(Bytes section, uint64_t offset, const UnitSizes& sizes) {
  AbbreviationTable table;
  table.sizes_ = sizes;
  Cursor cursor(section, offset);
  while (cursor.ok()) {
    const uint64_t code = cursor.ReadUleb();
    if (code == 0 || !table.ReadOne(cursor, code)) break;
  }
  table.size_ = cursor.offset() - (offset <= section.size() ? offset : cursor.offset());
  return table;
}

bool AbbreviationTable::ReadOne(Cursor& cursor, uint64_t code) {
  Abbreviation abbreviation;
  const uint64_t tag = cursor.ReadUleb();
  abbreviation.tag = tag <= UINT16_MAX ? static_cast<uint16_t>(tag) : uint16_t{DW_TAG_hi_user};
  abbreviation.has_children = cursor.Read<uint8_t>() != 0;
  abbreviation.first_attribute = static_cast<uint32_t>(attributes_.size());
  while (cursor.ok()) {
    const uint64_t attribute = cursor.ReadUleb();
    const uint64_t form = cursor.ReadUleb();
    if (attribute == 0 && form == 0) break;
    AttributeForm& added = attributes_.emplace_back();
    if (form == DW_FORM_implicit_const) added.constant = cursor.ReadSleb();
    if (SizeOfForm(form, sizes_) == kUnknownForm) return false;
    added.attribute = attribute <= UINT16_MAX ? static_cast<uint16_t>(attribute) : uint16_t{0};
    added.form = static_cast<uint16_t>(form);
    abbreviation.has_sibling |= added.attribute == DW_AT_sibling;
    abbreviation.has_code |= added.attribute == DW_AT_low_pc || added.attribute == DW_AT_ranges;
  }
  if (!cursor.ok()) return false;
  abbreviation.attribute_count =
      static_cast<uint32_t>(attributes_.size()) - abbreviation.first_attribute;
  AddSteps(abbreviation);
  if (code == dense_.size() + 1) {
    dense_.push_back(abbreviation);
  } else {
    sparse_.emplace(code, abbreviation);
  }
  return true;
}

void AbbreviationTable::AddSteps(Abbreviation& abbreviation) {
  abbreviation.first_step = static_cast<uint32_t>(steps_.size());
  SkipStep step;
  for (const AttributeForm& attribute : AttributesOf(abbreviation)) {
    const int size = SizeOfForm(attribute.form, sizes_);
    if (size >= 0) {
      step.bytes += static_cast<uint32_t>(size);
    } else {
      step.form = attribute.form;
      steps_.push_back(step);
      step = {};
    }
  }
  if (step.bytes != 0) steps_.push_back(step);
  abbreviation.step_count = static_cast<uint32_t>(steps_.size()) - abbreviation.first_step;
}

}  // namespace profiler::symbolize::dwarf
