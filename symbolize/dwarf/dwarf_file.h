// Splits the debug information of one file into units, and opens each unit separately in libdw.
//
//   .debug_info   unit, unit, …       a unit: header, then a tree of entries (DIEs), root first
//
// A unit may be a skeleton, which has only addresses and lines. Its entries are in the unit with
// the same id in a split file. A split file is a .dwo file, or a .dwp file, which is a package of
// several .dwo files. An alternate file, made by dwz, may have entries and strings that several
// files share. libdw sees only one unit, so this code follows references between units and files.
//
// Source: DWARF 5, 7.5; DWARF 2 to 4; https://gcc.gnu.org/wiki/DebugFission for split DWARF 4.

#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "symbolize/dwarf/address_ranges.h"
#include "symbolize/dwarf/libdw_sections.h"
#include "symbolize/dwarf/sections.h"

namespace profiler::symbolize::dwarf {

class DwarfFile;

// Offsets at which a split unit's parts start in the sections of a package. In all other files,
// they are 0.
struct Contribution {
  uint64_t info = 0, abbreviations = 0, lines = 0, string_offsets = 0, range_lists = 0;
};

// The parts of a skeleton that its split unit uses.
struct SkeletonPart {
  Bytes addresses;  // contents of .debug_addr from the unit's first address on
  // DWARF 4: contents of .debug_ranges, beginning where the unit's range offsets are 0.
  Bytes ranges;
  uint64_t base_address = 0;
};

struct Unit {
  uint64_t offset = 0;  // offset of the header in .debug_info
  uint64_t end = 0;
  uint64_t abbreviations = 0;  // offset of the unit's abbreviation table in .debug_abbrev
  uint16_t version = 0;
  uint8_t address_size = 0;  // 4 or 8 bytes
  uint8_t offset_size = 0;   // 4 or 8 bytes
  Contribution contribution;
  std::optional<SkeletonPart> skeleton;  // only in split units: set by Bind
};

// A unit opened in libdw.
class OpenUnit {
 public:
  OpenUnit(const Unit& unit, const SectionViews& views, LibdwSections sections,
           const Dwarf_Die& root);

  const Unit& unit() const { return unit_; }
  const Dwarf_Die& root() const { return root_; }
  const SectionViews& sections() const { return views_; }  // the sections that libdw sees
  uint8_t type() const;  // DW_UT_…; libdw derives it for DWARF 4
  uint64_t id() const;   // only skeletons and split units have an id

  // Returns an attribute of the root entry; empty if the root entry does not have it.
  std::optional<Dwarf_Attribute> RootAttribute(unsigned name) const;
  std::optional<uint64_t> RootNumber(unsigned name) const;
  std::optional<uint64_t> RootAddress(unsigned name) const;

  // Returns the address to which offsets in range lists are relative.
  uint64_t base_address() const { return base_address_; }
  // DWARF 5: returns the offset of the table to which range-list indices refer.
  uint64_t range_lists_base() const { return range_lists_base_; }

  // Returns the entry at an offset in .debug_info; empty if the unit does not contain it.
  std::optional<Dwarf_Die> EntryAt(uint64_t offset) const;
  // Returns the offset in .debug_info at which an entry of this unit begins.
  uint64_t OffsetOf(const Dwarf_Die& entry) const;

  // Returns the text of an attribute of form DW_FORM_string.
  std::string_view InlineString(const Dwarf_Attribute& value) const;
  // Returns the value of an attribute whose form is an offset of `size` bytes.
  std::optional<uint64_t> RawOffset(const Dwarf_Attribute& value, unsigned size) const;

 private:
  Bytes From(const void* at) const;

  const Unit& unit_;
  SectionViews views_;
  LibdwSections sections_;
  Dwarf_Die root_;
  uint64_t base_address_ = 0;
  uint64_t range_lists_base_ = 0;
};

struct EntryReference {
  DwarfFile* file = nullptr;  // null: the reference is invalid
  uint64_t offset = 0;
};

// The attributes that locate an entry's code.
struct RangeAttributes {
  std::optional<Dwarf_Attribute> low, high, list;
};

// The debug information of one file. Views and units are valid as long as this object. Not
// thread-safe.
class DwarfFile {
 public:
  // Loads the sections of `image`, whose bytes must outlive this object. `split` is true for a .dwo
  // or .dwp file.
  DwarfFile(const ElfImage& image, bool split);
  DwarfFile(const DwarfFile&) = delete;

  Bytes section(SectionId id) const { return sections_[id]; }

  // Sets the alternate file, to which the forms GNU_ref_alt and GNU_strp_alt refer; null if there
  // is none.
  void set_alternate(DwarfFile* file) { alternate_ = file; }

  // Returns the units in the order of their offsets, including DWARF 5 type units. A package has
  // only the units that AddUnit has added.
  std::vector<std::unique_ptr<Unit>>& units() { return units_; }
  // Returns the unit that contains an offset in .debug_info; null if there is none.
  Unit* UnitAt(uint64_t offset);
  // Adds the unit at contribution.info of a package. Null if there is none.
  Unit* AddUnit(const Contribution& contribution);
  // Gives a split unit the parts of its skeleton.
  void Bind(Unit& unit, const SkeletonPart& skeleton);

  // Opens a unit. Null if libdw cannot read it, or if this file exceeds its budget of
  // abbreviations. Cost: about 10 µs, unless the unit is still open.
  std::shared_ptr<OpenUnit> Open(const Unit& unit);

  // StringOf returns the string, and ReferenceOf the entry, to which an attribute's value refers.
  // The result is empty if the value has another form or points outside of a section.
  std::string_view StringOf(const OpenUnit& unit, const std::optional<Dwarf_Attribute>& value);
  EntryReference ReferenceOf(const OpenUnit& unit, const Dwarf_Attribute& value);
  // Appends at most `limit` address ranges of the entry's code to `ranges`. Skips empty ranges.
  static void AppendRanges(const OpenUnit& unit, const Dwarf_Die& entry,
                           const RangeAttributes& attributes, size_t limit,
                           std::vector<AddressRange>& ranges);

 private:
  std::optional<LibdwSections> OpenHeaders(const Contribution& contribution) const;
  static std::optional<Unit> ReadHeader(Dwarf* headers, uint64_t offset);
  SectionViews ViewsOf(const Unit& unit) const;
  uint64_t EndOfAbbreviations(const Unit& unit) const;
  bool Afford(const Unit& unit);

  Sections sections_;
  DwarfFile* alternate_ = nullptr;
  std::vector<std::unique_ptr<Unit>> units_;
  std::vector<uint64_t> abbreviation_tables_;  // offsets of the tables, ascending
  std::map<const Unit*, std::shared_ptr<OpenUnit>> open_;
  uint64_t open_abbreviations_ = 0;   // bytes of abbreviation tables of open units
  uint64_t abbreviation_budget_ = 0;  // bytes of abbreviation tables that may still be read
};

}  // namespace profiler::symbolize::dwarf
