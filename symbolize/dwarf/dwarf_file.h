// One file's debug information as a list of units, and the values in their entries.
//
//   .debug_info   unit, unit, …       a unit: header, then a tree of entries (DIEs), root first
//
// A unit may be a mere skeleton: its addresses and lines are here, its entries are the unit of the
// same id in a split file (.dwo, or a package of them, .dwp). Entries and strings that several
// files share may be in an alternate file (dwz).
//
// Source: DWARF 5, 7.5; DWARF 2 to 4; https://gcc.gnu.org/wiki/DebugFission for split DWARF 4.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolize/dwarf/abbreviations.h"
#include "symbolize/dwarf/sections.h"

namespace profiler::symbolize::dwarf {

class DwarfFile;

struct AddressRange {
  uint64_t start = 0;
  uint64_t end = 0;  // exclusive
};

// A value as it stands in an entry, not yet looked up.
struct Value {
  uint16_t form = 0;      // DW_FORM_…; 0: the entry has no such attribute
  uint64_t number = 0;    // offset, index, constant or address, by the form
  std::string_view text;  // of DW_FORM_string
};

// What the root entry of a unit says of the whole unit.
struct UnitRoot {
  uint16_t tag = 0;
  Value low_pc, high_pc, ranges, statements, name, directory, split_name;
  uint64_t string_offsets_base = 0;
  uint64_t address_base = 0;
  uint64_t range_lists_base = 0;
  uint64_t ranges_base = 0;  // DW_AT_GNU_ranges_base
};

// Where the parts of a split unit begin in the sections of its file; all zero outside of packages.
struct Contribution {
  uint64_t info = 0, abbreviations = 0, lines = 0, string_offsets = 0, range_lists = 0;
};

struct Unit {
  uint64_t offset = 0;  // of its header
  uint64_t root = 0;    // of its first entry
  uint64_t end = 0;
  uint64_t abbreviations = 0;  // offset of its table
  uint64_t id = 0;             // of skeletons and split units; 0: none
  UnitSizes sizes;
  uint8_t type = 0;  // DW_UT_…
  Contribution contribution;
  // A split unit's other half.
  DwarfFile* skeleton_file = nullptr;
  Unit* skeleton = nullptr;
  std::unique_ptr<UnitRoot> parsed_root;  // null until RootOf
};

struct EntryReference {
  DwarfFile* file = nullptr;  // null: leads nowhere
  uint64_t offset = 0;
};

// Not thread-safe. Views and units stay valid as long as the file.
class DwarfFile {
 public:
  // The bytes of `image` must outlive this.
  DwarfFile(const ElfImage& image, bool split);
  DwarfFile(const DwarfFile&) = delete;

  bool split() const { return split_; }
  Bytes section(SectionId id) const { return sections_[id]; }

  // The file that GNU_ref_alt and GNU_strp_alt refer to; null where there is none.
  void set_alternate(DwarfFile* file) { alternate_ = file; }

  // By offset. Type units are among them. In a package only those that AddUnit added.
  std::vector<std::unique_ptr<Unit>>& units() { return units_; }
  // The unit that holds an offset; null where none does.
  Unit* UnitAt(uint64_t offset);
  // Reads the header at contribution.info, in a package; null where there is none.
  Unit* AddUnit(const Contribution& contribution);

  const UnitRoot& RootOf(Unit& unit);
  // The one that `unit` and its skeleton share.
  const AbbreviationTable& AbbreviationsOf(const Unit& unit);

  // Reads the value that stands at the cursor.
  static Value ReadValue(Cursor& cursor, const AttributeForm& form, const UnitSizes& sizes);

  // What a value stands for. Empty where its form is of another class or leads out of a section.
  std::string_view StringOf(Unit& unit, const Value& value);
  std::optional<uint64_t> AddressOf(Unit& unit, const Value& value);
  EntryReference ReferenceOf(const Unit& unit, const Value& value);
  // The code of an entry with these attributes, at most `limit` ranges of it appended to `ranges`.
  // Ranges without bytes are left out.
  void AppendRanges(Unit& unit, const Value& low, const Value& high, const Value& list,
                    size_t limit, std::vector<AddressRange>& ranges);

 private:
  std::optional<Unit> ReadHeader(uint64_t offset, const Contribution& contribution) const;
  uint64_t BaseAddressOf(Unit& unit);
  std::optional<uint64_t> IndexedAddress(Unit& unit, uint64_t index);
  void AppendOldList(Unit& unit, uint64_t offset, size_t limit, std::vector<AddressRange>& ranges);
  void AppendList(Unit& unit, uint64_t offset, size_t limit, std::vector<AddressRange>& ranges);
  std::optional<uint64_t> RangeListAt(Unit& unit, uint64_t index);

  const bool split_;
  Sections sections_;
  DwarfFile* alternate_ = nullptr;
  std::vector<std::unique_ptr<Unit>> units_;
  std::map<std::pair<uint64_t, UnitSizes>, AbbreviationTable> abbreviations_;
  uint64_t abbreviation_budget_ = 0;  // bytes of .debug_abbrev that may still be read
};

}  // namespace profiler::symbolize::dwarf
