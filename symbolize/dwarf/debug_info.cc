#include "symbolize/dwarf/debug_info.h"

#include <dwarf.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "symbolize/dwarf/attribute_budget.h"
#include "symbolize/dwarf/dwarf_file.h"
#include "symbolize/dwarf/function_index.h"
#include "symbolize/dwarf/interval_map.h"
#include "symbolize/dwarf/line_table.h"
#include "symbolize/dwarf/split_files.h"

namespace profiler::symbolize::dwarf {
namespace {

// Limits on chains of references and of inlined calls. Compilers write shorter chains.
constexpr int kMaxReferences = 16;
constexpr size_t kMaxFrames = 512;
// Limit on the number of ranges that are read, as a multiple of the size in bytes of the sections
// with ranges. In a valid file, each list belongs to one unit and is read at most twice: to list
// the units, and to read the lines of a unit that was hit.
constexpr size_t kRangeBudget = 2;

// Limit on the bytes of line tables that are read, as a multiple of the size of .debug_line. In a
// valid file, each byte belongs to one table.
constexpr uint64_t kLineBudget = 4;

// The attributes of an entry that lead to its function's name.
struct NameAttributes {
  std::optional<Dwarf_Attribute> linkage_name, name, refers_to;
};

int CollectNames(Dwarf_Attribute* value, void* into) {
  NameAttributes& attributes = *static_cast<NameAttributes*>(into);
  switch (dwarf_whatattr(value)) {
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
      attributes.linkage_name = *value;
      break;
    case DW_AT_name:
      attributes.name = *value;
      break;
    case DW_AT_abstract_origin:
    case DW_AT_specification:
      attributes.refers_to = *value;
      break;
    default:
      break;
  }
  return DWARF_CB_OK;
}

// Returns the linkage name of a function; without one, its source name. The name may be in the
// function's entry, or in the entry to which that refers: its declaration or abstract instance.
std::string_view NameOf(DwarfFile* file, uint64_t entry, AttributeBudget& budget) {
  std::string_view name;
  for (int i = 0; i < kMaxReferences && file != nullptr; ++i) {
    const Unit* unit = file->UnitAt(entry);
    const std::shared_ptr<OpenUnit> open = unit == nullptr ? nullptr : file->Open(*unit);
    std::optional<Dwarf_Die> die = open == nullptr ? std::nullopt : open->EntryAt(entry);
    NameAttributes attributes;
    if (!die || !budget.Afford(*die) || dwarf_getattrs(&*die, CollectNames, &attributes, 0) != 1)
      return name;
    const std::string_view linkage_name = file->StringOf(*open, attributes.linkage_name);
    if (!linkage_name.empty()) return linkage_name;
    if (name.empty()) name = file->StringOf(*open, attributes.name);
    EntryReference next;
    if (attributes.refers_to) next = file->ReferenceOf(*open, *attributes.refers_to);
    file = next.file;
    entry = next.offset;
  }
  return name;
}

class FileDebugInfo : public DebugInfo {
 public:
  explicit FileDebugInfo(const DebugInfoFiles& files)
      : main_(*files.debug, /*split=*/false),
        alternate_(OpenAlternate(files)),
        split_files_(files),
        has_lines_(files.lines) {
    if (alternate_ != nullptr) main_.set_alternate(alternate_->dwarf.get());
    for (const ElfSegment& segment : files.image->segments()) {
      if (!segment.executable) continue;
      code_.push_back({segment.address.value, segment.address.value + segment.memory_size});
    }
    Merge(code_);
    // Linkers set dropped code to address 0, or to 1 in lists that end with 0.
    is_code_ = [this](uint64_t address) {
      const AddressRange* const range = address > 1 ? LastFrom(code_, address) : nullptr;
      return range != nullptr && address < range->end;
    };
    line_budget_ = kLineBudget * main_.section(SectionId::kLine).size();
    range_budget_ = kRangeBudget * (main_.section(SectionId::kInfo).size() +
                                    main_.section(SectionId::kRanges).size() +
                                    main_.section(SectionId::kRngLists).size());
  }

  std::span<const SourceFrame> Find(ElfAddress address) override;
  bool is_cut() const override { return attributes_.is_spent(); }

 private:
  // The parts of a unit that were read after a hit.
  struct Indexed {
    DwarfFile* file = nullptr;   // the file that has the entries: main_ or a split file
    const Unit* unit = nullptr;  // the unit of `file` that has the entries
    FunctionIndex functions;
    LineTable lines;
    // Line table to which Scope::call_file refers; empty: that is `lines`.
    std::optional<LineTable> call_lines;
  };

  void ListUnits();
  std::vector<AddressRange> CodeOf(const OpenUnit& unit);
  Indexed& IndexOf(uint32_t unit);
  void ReadFunctions(const OpenUnit& unit, Indexed& indexed);
  LineTable LinesOf(const OpenUnit& unit, uint64_t offset, std::string_view directory);
  void AppendChain(Indexed& unit, uint32_t scope);

  std::vector<AddressRange> code_;
  IsCode is_code_;
  AttributeBudget attributes_;
  DwarfFile main_;
  std::unique_ptr<OpenedFile> alternate_;
  SplitFiles split_files_;
  const bool has_lines_;
  bool listed_ = false;
  IntervalMap units_;                              // maps addresses to indices in main_.units()
  std::vector<std::unique_ptr<Indexed>> indexed_;  // index: as in main_.units(); null: not hit yet
  StringTable paths_;
  uint64_t line_budget_ = 0;  // bytes of line tables that may still be read
  size_t range_budget_ = 0;   // number of ranges of units that may still be read
  std::vector<SourceFrame> frames_;
};

std::span<const SourceFrame> FileDebugInfo::Find(ElfAddress address) {
  if (!listed_) ListUnits();
  frames_.clear();
  const uint32_t index = units_.Find(address.value);
  if (index == kNoOwner) return {};
  Indexed& unit = IndexOf(index);
  AppendChain(unit,
              unit.functions.Find(address.value, [&] { return unit.file->Open(*unit.unit); }));
  if (const LineRow* row = unit.lines.Find(address.value)) {
    if (frames_.empty()) frames_.emplace_back();
    frames_[0].file = paths_[unit.lines.FileName(row->file)];
    frames_[0].line = row->line;
    frames_[0].column = row->column;
  }
  return frames_;
}

void FileDebugInfo::AppendChain(Indexed& unit, uint32_t scope) {
  const LineTable& call_lines = unit.call_lines ? *unit.call_lines : unit.lines;
  const Scope* called = nullptr;
  while (scope != kNoOwner && frames_.size() < kMaxFrames) {
    Scope& at = unit.functions[scope];
    if (at.name.data() == nullptr) {
      at.name = NameOf(unit.file, at.entry, attributes_);
      if (at.name.empty()) at.name = "";
    }
    SourceFrame& frame = frames_.emplace_back();
    frame.function = at.name;
    frame.inlined = at.inlined;
    frame.start = {at.code.start};
    frame.size = at.code.end - at.code.start;
    if (called != nullptr) {
      frame.file = paths_[call_lines.FileName(called->call_file)];
      frame.line = called->call_line;
      frame.column = called->call_column;
    }
    called = &at;
    scope = at.parent;
  }
  if (!frames_.empty()) frames_.back().inlined = false;
}

FileDebugInfo::Indexed& FileDebugInfo::IndexOf(uint32_t index) {
  std::unique_ptr<Indexed>& indexed = indexed_[index];
  if (indexed != nullptr) return *indexed;
  indexed = std::make_unique<Indexed>();
  const std::shared_ptr<OpenUnit> unit = main_.Open(*main_.units()[index]);
  if (unit != nullptr) ReadFunctions(*unit, *indexed);
  return *indexed;
}

void FileDebugInfo::ReadFunctions(const OpenUnit& unit, Indexed& indexed) {
  const std::string_view directory = main_.StringOf(unit, unit.RootAttribute(DW_AT_comp_dir));
  SplitFiles::Found split;
  if (IsSkeleton(unit)) split = split_files_.Find(main_, unit);
  std::shared_ptr<OpenUnit> split_unit;
  if (split.unit != nullptr) split_unit = split.file->Open(*split.unit);
  const OpenUnit& with_entries = split_unit == nullptr ? unit : *split_unit;
  indexed.file = split_unit == nullptr ? &main_ : split.file;
  indexed.unit = &with_entries.unit();
  attributes_.AddUnit(with_entries.sections()[SectionId::kInfo].size());
  indexed.functions = FunctionIndex(with_entries, is_code_, attributes_);
  if (!has_lines_) return;
  // Reads the split unit's own file list for calls, if there is one. The compiler wrote that list,
  // but the skeleton's list may come from the assembler.
  if (split_unit != nullptr) {
    if (const auto own = split_unit->RootNumber(DW_AT_stmt_list)) {
      indexed.call_lines = LinesOf(*split_unit, *own, directory);
    }
  }
  if (const auto own = unit.RootNumber(DW_AT_stmt_list)) {
    indexed.lines = LinesOf(unit, *own, directory);
  }
}

LineTable FileDebugInfo::LinesOf(const OpenUnit& unit, uint64_t offset,
                                 std::string_view directory) {
  LineTableSource source;
  source.sections = unit.sections();
  Bytes& lines = source.sections[SectionId::kLine];
  if (offset >= lines.size()) return {};
  lines = lines.first(offset + std::min<uint64_t>(lines.size() - offset, line_budget_));
  source.offset = offset;
  source.address_size = unit.unit().address_size;
  source.directory = directory;
  source.code = CodeOf(unit);
  LineTable table = LineTable::Read(source, paths_);
  line_budget_ -= std::min(line_budget_, table.size());
  return table;
}

std::vector<AddressRange> FileDebugInfo::CodeOf(const OpenUnit& unit) {
  std::vector<AddressRange> ranges;
  DwarfFile::AppendRanges(unit, unit.root(),
                          {unit.RootAttribute(DW_AT_low_pc), unit.RootAttribute(DW_AT_high_pc),
                           unit.RootAttribute(DW_AT_ranges)},
                          range_budget_, ranges);
  range_budget_ -= ranges.size();
  std::erase_if(ranges, [this](const AddressRange& range) { return !is_code_(range.start); });
  Merge(ranges);
  return ranges;
}

void FileDebugInfo::ListUnits() {
  listed_ = true;
  const auto& units = main_.units();
  indexed_.resize(units.size());
  for (uint32_t i = 0; i < units.size(); ++i) {
    const std::shared_ptr<OpenUnit> unit = main_.Open(*units[i]);
    if (unit == nullptr) continue;
    const uint8_t type = unit->type();
    if (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_split_compile) continue;
    for (const AddressRange& range : CodeOf(*unit)) units_.Add(range.start, range.end, i);
  }
  units_.Build();
}

}  // namespace

std::unique_ptr<DebugInfo> DebugInfo::Open(const DebugInfoFiles& files) {
  if (!HasDebugInfo(*files.debug)) return nullptr;
  return std::make_unique<FileDebugInfo>(files);
}

}  // namespace profiler::symbolize::dwarf
