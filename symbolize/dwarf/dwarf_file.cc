#include "symbolize/dwarf/dwarf_file.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/base/byte_reader.h"

namespace profiler::symbolize::dwarf {
namespace {

// Limits on abbreviations, in bytes. libdw reads a unit's abbreviation table up to the abbreviation
// that it looks for. It keeps that part in ten times the space, separately for each unit. A hostile
// file may have many units that share one large table.
constexpr uint64_t kMostAbbreviations = uint64_t{1} << 30;
constexpr uint64_t kMostOpenAbbreviations = uint64_t{64} << 20;
constexpr size_t kMostOpenUnits = 1024;

}  // namespace

OpenUnit::OpenUnit(const Unit& unit, const SectionViews& views, LibdwSections sections,
                   const Dwarf_Die& root)
    : unit_(unit), views_(views), sections_(std::move(sections)), root_(root) {
  base_address_ =
      unit.skeleton ? unit.skeleton->base_address : RootAddress(DW_AT_low_pc).value_or(0);
  // A split unit lacks this attribute. Its table of range lists begins after the header of the
  // section.
  range_lists_base_ = RootNumber(DW_AT_rnglists_base).value_or(unit.offset_size == 8 ? 20 : 12);
}

uint8_t OpenUnit::type() const {
  uint8_t type = 0;
  dwarf_cu_info(root_.cu, nullptr, &type, nullptr, nullptr, nullptr, nullptr, nullptr);
  return type;
}

uint64_t OpenUnit::id() const {
  uint64_t id = 0;
  dwarf_cu_info(root_.cu, nullptr, nullptr, nullptr, nullptr, &id, nullptr, nullptr);
  return id;
}

std::optional<Dwarf_Attribute> OpenUnit::RootAttribute(unsigned name) const {
  Dwarf_Die root = root_;
  Dwarf_Attribute value;
  if (dwarf_attr(&root, name, &value) == nullptr) return std::nullopt;
  return value;
}

std::optional<uint64_t> OpenUnit::RootNumber(unsigned name) const {
  std::optional<Dwarf_Attribute> value = RootAttribute(name);
  Dwarf_Word number = 0;
  if (!value || dwarf_formudata(&*value, &number) != 0) return std::nullopt;
  return number;
}

std::optional<uint64_t> OpenUnit::RootAddress(unsigned name) const {
  std::optional<Dwarf_Attribute> value = RootAttribute(name);
  Dwarf_Addr address = 0;
  if (!value || dwarf_formaddr(&*value, &address) != 0) return std::nullopt;
  return address;
}

std::optional<Dwarf_Die> OpenUnit::EntryAt(uint64_t offset) const {
  Dwarf_Die entry;
  if (dwarf_offdie(sections_.dwarf(), offset - unit_.offset, &entry) == nullptr) {
    return std::nullopt;
  }
  return entry;
}

uint64_t OpenUnit::OffsetOf(const Dwarf_Die& entry) const {
  Dwarf_Die copy = entry;
  return unit_.offset + dwarf_dieoffset(&copy);
}

// Returns the unit's bytes that begin at `at`; empty if `at` is outside of the unit.
Bytes OpenUnit::From(const void* at) const {
  const Bytes info = views_[SectionId::kInfo];
  const auto* byte = static_cast<const std::byte*>(at);
  if (byte < info.data() || byte >= info.data() + info.size()) return {};
  return info.subspan(static_cast<size_t>(byte - info.data()));
}

std::string_view OpenUnit::InlineString(const Dwarf_Attribute& value) const {
  return StringAt(From(value.valp), 0);
}

std::optional<uint64_t> OpenUnit::RawOffset(const Dwarf_Attribute& value, unsigned size) const {
  ByteReader reader(From(value.valp));
  const uint64_t offset = size == 8 ? reader.Read<uint64_t>() : reader.Read<uint32_t>();
  return reader.ok() ? std::optional(offset) : std::nullopt;
}

DwarfFile::DwarfFile(const ElfImage& image, bool split) : sections_(Sections::Load(image, split)) {
  abbreviation_budget_ = kMostAbbreviations;
  if (!section(SectionId::kCuIndex).empty()) return;
  const std::optional<LibdwSections> headers = OpenHeaders({});
  if (!headers) return;
  for (uint64_t offset = 0; std::optional<Unit> unit = ReadHeader(headers->dwarf(), offset);) {
    offset = unit->end;
    // If the version is unsupported, only the size of the unit is known.
    if (unit->version == 0) continue;
    abbreviation_tables_.push_back(unit->abbreviations);
    units_.push_back(std::make_unique<Unit>(*std::move(unit)));
  }
  std::sort(abbreviation_tables_.begin(), abbreviation_tables_.end());
}

std::optional<LibdwSections> DwarfFile::OpenHeaders(const Contribution& contribution) const {
  SectionViews views;
  views[SectionId::kInfo] = BytesFrom(section(SectionId::kInfo), contribution.info);
  views[SectionId::kAbbrev] = BytesFrom(section(SectionId::kAbbrev), contribution.abbreviations);
  return LibdwSections::Open(views, 8);
}

std::optional<Unit> DwarfFile::ReadHeader(Dwarf* headers, uint64_t offset) {
  Unit unit;
  size_t header_size = 0;
  unit.offset = offset;
  if (dwarf_next_unit(headers, offset, &unit.end, &header_size, &unit.version, &unit.abbreviations,
                      &unit.address_size, &unit.offset_size, nullptr, nullptr) != 0 ||
      unit.end <= offset) {
    return std::nullopt;
  }
  if (unit.address_size != 4 && unit.address_size != 8) unit.version = 0;
  return unit;
}

Unit* DwarfFile::UnitAt(uint64_t offset) {
  const auto after =
      std::upper_bound(units_.begin(), units_.end(), offset,
                       [](uint64_t o, const std::unique_ptr<Unit>& u) { return o < u->offset; });
  if (after == units_.begin()) return nullptr;
  Unit* unit = std::prev(after)->get();
  return offset < unit->end ? unit : nullptr;
}

Unit* DwarfFile::AddUnit(const Contribution& contribution) {
  const std::optional<LibdwSections> headers = OpenHeaders(contribution);
  if (!headers) return nullptr;
  std::optional<Unit> unit = ReadHeader(headers->dwarf(), 0);
  if (!unit || unit->version == 0) return nullptr;
  unit->contribution = contribution;
  unit->offset += contribution.info;
  unit->end += contribution.info;
  const auto place =
      std::lower_bound(units_.begin(), units_.end(), unit->offset,
                       [](const std::unique_ptr<Unit>& u, uint64_t o) { return u->offset < o; });
  if (place != units_.end() && (*place)->offset == unit->offset) return place->get();
  return units_.insert(place, std::make_unique<Unit>(*std::move(unit)))->get();
}

void DwarfFile::Bind(Unit& unit, const SkeletonPart& skeleton) {
  unit.skeleton = skeleton;
  open_.erase(&unit);
}

SectionViews DwarfFile::ViewsOf(const Unit& unit) const {
  SectionViews views = sections_.views();
  const auto cut = [&views](SectionId id, uint64_t offset) {
    views[id] = BytesFrom(views[id], offset);
  };
  const Contribution& contribution = unit.contribution;
  const Bytes info = BytesFrom(views[SectionId::kInfo], unit.offset);
  views[SectionId::kInfo] = info.first(std::min<uint64_t>(info.size(), unit.end - unit.offset));
  views[SectionId::kAbbrev] = views[SectionId::kAbbrev].first(EndOfAbbreviations(unit));
  cut(SectionId::kAbbrev, contribution.abbreviations);
  cut(SectionId::kLine, contribution.lines);
  cut(SectionId::kStrOffsets, contribution.string_offsets);
  cut(SectionId::kRngLists, contribution.range_lists);
  if (unit.skeleton) {
    views[SectionId::kAddr] = unit.skeleton->addresses;
    views[SectionId::kRanges] = unit.skeleton->ranges;
  }
  return views;
}

// Returns the start of the next abbreviation table, or the end of the section. Tables do not
// overlap, so the unit's table ends there or earlier.
uint64_t DwarfFile::EndOfAbbreviations(const Unit& unit) const {
  const uint64_t size = section(SectionId::kAbbrev).size();
  const auto next = std::upper_bound(abbreviation_tables_.begin(), abbreviation_tables_.end(),
                                     unit.abbreviations);
  return next == abbreviation_tables_.end() ? size : std::min(*next, size);
}

// Returns true if the unit's table of abbreviations fits the budget. Closes other units to make
// room.
bool DwarfFile::Afford(const Unit& unit) {
  const uint64_t end = EndOfAbbreviations(unit);
  const uint64_t size = end - std::min(end, unit.abbreviations);
  if (size > abbreviation_budget_) return false;
  abbreviation_budget_ -= size;
  if (open_.size() >= kMostOpenUnits || open_abbreviations_ + size > kMostOpenAbbreviations) {
    open_.clear();
    open_abbreviations_ = 0;
  }
  open_abbreviations_ += size;
  return true;
}

std::shared_ptr<OpenUnit> DwarfFile::Open(const Unit& unit) {
  if (const auto it = open_.find(&unit); it != open_.end()) return it->second;
  if (!Afford(unit)) return nullptr;
  const SectionViews views = ViewsOf(unit);
  std::optional<LibdwSections> sections = LibdwSections::Open(views, unit.address_size);
  if (!sections) return nullptr;
  Dwarf_CU* cu = nullptr;
  Dwarf_Die root = {};
  if (dwarf_get_units(sections->dwarf(), nullptr, &cu, nullptr, nullptr, &root, nullptr) != 0 ||
      root.addr == nullptr || dwarf_tag(&root) == DW_TAG_invalid) {
    return nullptr;
  }
  auto open = std::make_shared<OpenUnit>(unit, views, *std::move(sections), root);
  open_.emplace(&unit, open);
  return open;
}

std::string_view DwarfFile::StringOf(const OpenUnit& unit,
                                     const std::optional<Dwarf_Attribute>& value) {
  if (!value) return {};
  Dwarf_Attribute copy = *value;
  switch (dwarf_whatform(&copy)) {
    case DW_FORM_string:
      return unit.InlineString(copy);
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt: {
      const auto offset = unit.RawOffset(copy, unit.unit().offset_size);
      if (alternate_ == nullptr || !offset) return {};
      return StringAt(alternate_->section(SectionId::kStr), *offset);
    }
    default: {
      const char* text = dwarf_formstring(&copy);
      return text == nullptr ? std::string_view() : text;
    }
  }
}

EntryReference DwarfFile::ReferenceOf(const OpenUnit& unit, const Dwarf_Attribute& value) {
  Dwarf_Attribute copy = value;
  const auto raw = [&](DwarfFile* file, unsigned size) -> EntryReference {
    const auto offset = unit.RawOffset(value, size);
    return offset ? EntryReference{file, *offset} : EntryReference();
  };
  switch (dwarf_whatform(&copy)) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata: {
      Dwarf_Die entry;
      if (dwarf_formref_die(&copy, &entry) == nullptr) return {};
      return {this, unit.OffsetOf(entry)};
    }
    case DW_FORM_ref_addr:  // an address-sized value in DWARF 2
      return raw(this,
                 unit.unit().version <= 2 ? unit.unit().address_size : unit.unit().offset_size);
    case DW_FORM_GNU_ref_alt:
      return raw(alternate_, unit.unit().offset_size);
    case DW_FORM_ref_sup4:
      return raw(alternate_, 4);
    case DW_FORM_ref_sup8:
      return raw(alternate_, 8);
    default:
      return {};
  }
}

namespace {

// Returns the offset of an entry's range list in the section that libdw sees; -1: invalid. An
// attribute may have an index instead of an offset. Then the offset is in a table after the
// section's header, and it is relative to the table's start. Checks the result, because libdw does
// not check offsets and would read outside the section.
ptrdiff_t OffsetOfList(const OpenUnit& unit, Dwarf_Attribute list) {
  Dwarf_Word offset = 0;
  if (dwarf_formudata(&list, &offset) != 0) return -1;
  if (dwarf_whatform(&list) == DW_FORM_rnglistx) {
    const unsigned size = unit.unit().offset_size;
    const uint64_t base = unit.range_lists_base();
    const Bytes section = unit.sections()[SectionId::kRngLists];
    if (offset > section.size() / size) return -1;
    ByteReader reader(BytesFrom(section, base + offset * size));
    offset = base + (size == 8 ? reader.Read<uint64_t>() : reader.Read<uint32_t>());
    if (!reader.ok() || offset == 0 || offset >= section.size()) return -1;
  }
  return static_cast<ptrdiff_t>(offset);
}

}  // namespace

void DwarfFile::AppendRanges(const OpenUnit& unit, const Dwarf_Die& entry,
                             const RangeAttributes& attributes, size_t limit,
                             std::vector<AddressRange>& ranges) {
  Dwarf_Addr start = 0, end = 0, base = 0;
  if (!attributes.list) {
    if (!attributes.low || !attributes.high || limit == 0) return;
    Dwarf_Attribute low = *attributes.low, high = *attributes.high;
    if (dwarf_formaddr(&low, &start) != 0) return;
    // The high end is an address, or a distance from the low end.
    if (dwarf_formaddr(&high, &end) != 0) {
      if (dwarf_formudata(&high, &end) != 0) return;
      end += start;
    }
    if (end > start) ranges.push_back({start, end});
    return;
  }
  Dwarf_Die die = entry;
  base = unit.base_address();
  ptrdiff_t next = OffsetOfList(unit, *attributes.list);
  // Before DWARF 5, a list may be at offset 0. For libdw, offset 0 means that it must start the
  // list itself, but it does not know the base address of a split unit.
  const bool may_lack_base = next == 0;
  for (; limit != 0 && next >= 0; --limit) {
    next = dwarf_ranges(&die, next, &base, &start, &end);
    if (next <= 0) return;
    if (may_lack_base && base == 0) {
      base = unit.base_address();
      start += base;
      end += base;
    }
    if (start < end) ranges.push_back({start, end});
  }
}

}  // namespace profiler::symbolize::dwarf
