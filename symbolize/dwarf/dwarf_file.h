// One file's debug information as a list of units, each of which libdw reads by itself.
//
//   .debug_info   unit, unit, …       a unit: header, then a tree of entries (DIEs), root first
//
// A unit may be a mere skeleton: its addresses and lines are here, its entries are the unit of the
// same id in a split file (.dwo, or a package of them, .dwp). Entries and strings that several
// files share may be in an alternate file (dwz). References from one unit or file to another are
// followed here, as libdw knows of one unit only.
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

// Where the parts of a split unit begin in the sections of its file; all zero outside of packages.
struct Contribution {
  uint64_t info = 0, abbreviations = 0, lines = 0, string_offsets = 0, range_lists = 0;
};

// What a split unit has of its skeleton.
struct SkeletonPart {
  Bytes addresses;  // .debug_addr from the unit's first one on
  Bytes ranges;     // .debug_ranges from where the unit's offsets count, in DWARF 4
  uint64_t base_address = 0;
};

struct Unit {
  uint64_t offset = 0;  // of its header in .debug_info
  uint64_t end = 0;
  uint64_t abbreviations = 0;  // offset of its table
  uint16_t version = 0;
  uint8_t address_size = 0;  // 4 or 8
  uint8_t offset_size = 0;   // 4 or 8
  Contribution contribution;
  std::optional<SkeletonPart> skeleton;  // of a split unit that is in use
};

// One unit in libdw's hands.
class OpenUnit {
 public:
  OpenUnit(const Unit& unit, const SectionViews& views, LibdwSections sections,
           const Dwarf_Die& root);

  const Unit& unit() const { return unit_; }
  const Dwarf_Die& root() const { return root_; }
  const SectionViews& sections() const { return views_; }  // as libdw sees them
  uint8_t type() const;  // DW_UT_…; libdw tells it of DWARF 4 as well
  uint64_t id() const;   // of skeletons and split units

  // The root's value; empty where it has none.
  std::optional<Dwarf_Attribute> RootAttribute(unsigned name) const;
  std::optional<uint64_t> RootNumber(unsigned name) const;
  std::optional<uint64_t> RootAddress(unsigned name) const;

  // What offsets in lists of ranges are relative to.
  uint64_t base_address() const { return base_address_; }
  // Where the offsets of range lists with an index start, in DWARF 5.
  uint64_t range_lists_base() const { return range_lists_base_; }

  // The entry at an offset in .debug_info; empty where the unit does not have it.
  std::optional<Dwarf_Die> EntryAt(uint64_t offset) const;
  // The other way round.
  uint64_t OffsetOf(const Dwarf_Die& entry) const;

  // The text of a DW_FORM_string, and the offset that the value of a form of `size` bytes is.
  std::string_view InlineString(const Dwarf_Attribute& value) const;
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
  DwarfFile* file = nullptr;  // null: leads nowhere
  uint64_t offset = 0;
};

// The attributes that say where the code of an entry is.
struct RangeAttributes {
  std::optional<Dwarf_Attribute> low, high, list;
};

// Not thread-safe. Views and units stay valid as long as the file.
class DwarfFile {
 public:
  // The bytes of `image` must outlive this.
  DwarfFile(const ElfImage& image, bool split);
  DwarfFile(const DwarfFile&) = delete;

  Bytes section(SectionId id) const { return sections_[id]; }

  // The file that GNU_ref_alt and GNU_strp_alt refer to; null where there is none.
  void set_alternate(DwarfFile* file) { alternate_ = file; }

  // By offset. Type units of DWARF 5 are among them. In a package only those that AddUnit added.
  std::vector<std::unique_ptr<Unit>>& units() { return units_; }
  // The unit that holds an offset; null where none does.
  Unit* UnitAt(uint64_t offset);
  // Reads the header at contribution.info, in a package; null where there is none.
  Unit* AddUnit(const Contribution& contribution);
  // Gives a split unit its other half.
  void Bind(Unit& unit, const SkeletonPart& skeleton);

  // Null where libdw cannot read the unit, or this file would make it read too much. Cost: some
  // 10 µs for a unit that was not open lately.
  std::shared_ptr<OpenUnit> Open(const Unit& unit);

  // What a value stands for. Empty where its form is of another class or leads out of a section.
  std::string_view StringOf(const OpenUnit& unit, const std::optional<Dwarf_Attribute>& value);
  EntryReference ReferenceOf(const OpenUnit& unit, const Dwarf_Attribute& value);
  // The code of an entry, at most `limit` ranges of it appended to `ranges`. Ranges without bytes
  // are left out.
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
  std::vector<uint64_t> abbreviation_tables_;  // where they start, by offset
  std::map<const Unit*, std::shared_ptr<OpenUnit>> open_;
  uint64_t open_abbreviations_ = 0;   // bytes of their tables
  uint64_t abbreviation_budget_ = 0;  // bytes of tables that may still be read
};

}  // namespace profiler::symbolize::dwarf
