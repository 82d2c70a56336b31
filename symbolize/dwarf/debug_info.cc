#include "symbolize/dwarf/debug_info.h"

#include <dwarf.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "symbolize/dwarf/dwarf_file.h"
#include "symbolize/dwarf/function_index.h"
#include "symbolize/dwarf/interval_map.h"
#include "symbolize/dwarf/line_table.h"
#include "symbolize/dwarf/split_files.h"

namespace profiler::symbolize::dwarf {
namespace {

// More than any compiler's chain of references or of inlined calls.
constexpr int kMaxReferences = 16;
constexpr size_t kMaxFrames = 512;

// The name of a function: its own or that of the entry that it refers to (what it is an instance
// of, or was declared as), the linker's before that of the source.
std::string_view NameOf(DwarfFile* file, uint64_t entry) {
  std::string_view name;
  for (int i = 0; i < kMaxReferences && file != nullptr; ++i) {
    Unit* unit = file->UnitAt(entry);
    if (unit == nullptr) return name;
    const AbbreviationTable& table = file->AbbreviationsOf(*unit);
    Cursor cursor(file->section(SectionId::kInfo), entry);
    cursor.EndAt(unit->end);
    const Abbreviation* abbreviation = table.Find(cursor.ReadUleb());
    if (abbreviation == nullptr) return name;
    EntryReference next;
    for (const AttributeForm& form : table.AttributesOf(*abbreviation)) {
      const Value value = DwarfFile::ReadValue(cursor, form, unit->sizes);
      if (!cursor.ok()) return name;
      if (form.attribute == DW_AT_linkage_name || form.attribute == DW_AT_MIPS_linkage_name) {
        const std::string_view linkage_name = file->StringOf(*unit, value);
        if (!linkage_name.empty()) return linkage_name;
      } else if (form.attribute == DW_AT_name && name.empty()) {
        name = file->StringOf(*unit, value);
      } else if (form.attribute == DW_AT_abstract_origin || form.attribute == DW_AT_specification) {
        next = file->ReferenceOf(*unit, value);
      }
    }
    file = next.file;
    entry = next.offset;
  }
  return name;
}

class FileDebugInfo : public DebugInfo {
 public:
  explicit FileDebugInfo(const DebugInfoFiles& files)
      : main_(*files.debug, /*split=*/false),
        alternate_(OpenAlternate(*files.debug, files.debug_path, files.debug_directories,
                                 files.fetched.get())),
        split_files_({files.image_path, files.debug_path}) {
    if (alternate_ != nullptr) main_.set_alternate(alternate_->dwarf.get());
    for (const ElfSegment& segment : files.image->segments()) {
      if (!segment.executable) continue;
      code_.push_back({segment.address.value, segment.address.value + segment.memory_size});
    }
    // 0, and 1 in lists where 0 is the end, stand for code that the linker dropped.
    is_code_ = [this](uint64_t address) {
      return address > 1 && std::any_of(code_.begin(), code_.end(), [=](const AddressRange& r) {
               return address >= r.start && address < r.end;
             });
    };
    line_budget_ = 2 * main_.section(SectionId::kLine).size() + 4096;
  }

  std::span<const SourceFrame> Find(ElfAddress address) override;

 private:
  // What was read of a unit that was hit.
  struct Indexed {
    DwarfFile* file = nullptr;  // with its entries: the split file of a skeleton
    FunctionIndex functions;
    LineTable* lines = nullptr;       // null: none
    LineTable* call_lines = nullptr;  // that the files of calls count in
  };

  void ListUnits();
  void ReadAranges(std::vector<bool>& listed);
  Indexed& IndexOf(uint32_t unit);
  LineTable* LinesOf(DwarfFile& file, Unit& unit, uint64_t base, std::string_view directory);
  void AppendChain(Indexed& unit, uint32_t scope);

  std::vector<AddressRange> code_;
  IsCode is_code_;
  DwarfFile main_;
  std::unique_ptr<OpenedFile> alternate_;
  SplitFiles split_files_;
  bool listed_ = false;
  IntervalMap units_;                              // address → index of the unit in main_
  std::vector<std::unique_ptr<Indexed>> indexed_;  // by unit; null: not hit yet
  std::map<std::pair<DwarfFile*, uint64_t>, LineTable> lines_;
  uint64_t line_budget_ = 0;  // bytes of line programs that may still be run
  std::vector<SourceFrame> frames_;
};

std::span<const SourceFrame> FileDebugInfo::Find(ElfAddress address) {
  if (!listed_) ListUnits();
  frames_.clear();
  const uint32_t index = units_.Find(address.value);
  if (index == kNoOwner) return {};
  Indexed& unit = IndexOf(index);
  AppendChain(unit, unit.functions.Find(address.value));
  const LineRow* row = unit.lines == nullptr ? nullptr : unit.lines->Find(address.value);
  if (row != nullptr) {
    if (frames_.empty()) frames_.emplace_back();
    frames_[0].file = unit.lines->FileName(row->file);
    frames_[0].line = row->line;
    frames_[0].column = row->column;
  }
  return frames_;
}

void FileDebugInfo::AppendChain(Indexed& unit, uint32_t scope) {
  const Scope* called = nullptr;
  while (scope != kNoOwner && frames_.size() < kMaxFrames) {
    Scope& at = unit.functions[scope];
    if (at.name.data() == nullptr) {
      at.name = NameOf(unit.file, at.entry);
      if (at.name.empty()) at.name = "";
    }
    SourceFrame& frame = frames_.emplace_back();
    frame.function = at.name;
    frame.inlined = at.inlined;
    frame.start = {at.code.start};
    frame.size = at.code.end - at.code.start;
    if (called != nullptr && unit.call_lines != nullptr) {
      frame.file = unit.call_lines->FileName(called->call_file);
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
  Unit& unit = *main_.units()[index];
  const UnitRoot& root = main_.RootOf(unit);
  const std::string_view directory = main_.StringOf(unit, root.directory);
  indexed->lines = indexed->call_lines = LinesOf(main_, unit, 0, directory);
  indexed->file = &main_;
  Unit* with_entries = &unit;
  if (unit.type == DW_UT_skeleton || root.split_name.form != 0) {
    const SplitFiles::Found split = split_files_.Find(main_, unit);
    if (split.unit != nullptr) {
      indexed->file = split.file;
      with_entries = split.unit;
      // The compiler's own list of files, where it wrote one: the skeleton's may be the
      // assembler's.
      if (split.file->RootOf(*split.unit).statements.form != 0) {
        LineTable* own =
            LinesOf(*split.file, *split.unit, split.unit->contribution.lines, directory);
        if (own != nullptr) indexed->call_lines = own;
      }
    }
  }
  indexed->functions = FunctionIndex::Read(*indexed->file, *with_entries, is_code_);
  return *indexed;
}

LineTable* FileDebugInfo::LinesOf(DwarfFile& file, Unit& unit, uint64_t base,
                                  std::string_view directory) {
  const Value& statements = file.RootOf(unit).statements;
  const LineSections sections = {file.section(SectionId::kLine), file.section(SectionId::kStr),
                                 file.section(SectionId::kLineStr)};
  const uint64_t offset = base + statements.number;
  if (statements.form == 0 || offset >= sections.lines.size()) return nullptr;
  const auto [it, is_new] = lines_.try_emplace({&file, offset});
  if (is_new) {
    // Programs do not overlap, so a sound file needs each byte of the section once.
    LineSections readable = sections;
    if (&file == &main_ && line_budget_ < sections.lines.size() - offset) {
      readable.lines = sections.lines.first(offset + line_budget_);
    }
    it->second = LineTable::Read(readable, offset, unit.sizes.address, directory, is_code_);
    line_budget_ -= std::min(line_budget_, it->second.program_size());
  }
  return &it->second;
}

// What .debug_aranges lists is taken from there, so that of these units not even the root is read.
void FileDebugInfo::ListUnits() {
  listed_ = true;
  const auto& units = main_.units();
  indexed_.resize(units.size());
  std::vector<bool> listed(units.size());
  ReadAranges(listed);
  // Units that share a list share its ranges, in a file that wants to be slow.
  size_t budget = main_.section(SectionId::kInfo).size() +
                  main_.section(SectionId::kRanges).size() +
                  main_.section(SectionId::kRngLists).size();
  std::vector<AddressRange> ranges;
  for (uint32_t i = 0; i < units.size(); ++i) {
    Unit& unit = *units[i];
    if (listed[i] || (unit.type != DW_UT_compile && unit.type != DW_UT_skeleton)) continue;
    const UnitRoot& root = main_.RootOf(unit);
    ranges.clear();
    main_.AppendRanges(unit, root.low_pc, root.high_pc, root.ranges, budget, ranges);
    budget -= ranges.size();
    for (const AddressRange& range : ranges) {
      if (is_code_(range.start)) units_.Add(range.start, range.end, i);
    }
  }
  units_.Build();
}

// Sets: length, version u16, offset of the unit, address size u8, segment selector size u8; then,
// aligned to twice the address size, pairs of address and size up to (0, 0).
void FileDebugInfo::ReadAranges(std::vector<bool>& listed) {
  const auto& units = main_.units();
  const Bytes section = main_.section(SectionId::kAranges);
  uint64_t at = 0;
  while (at < section.size()) {
    Cursor cursor(section, at);
    uint8_t offset_size = 0;
    const uint64_t length = cursor.ReadInitialLength(offset_size);
    const uint64_t end = cursor.offset() + length;
    cursor.EndAt(end);
    const auto version = cursor.Read<uint16_t>();
    const uint64_t unit_offset = cursor.ReadSized(offset_size);
    const unsigned address_size = cursor.Read<uint8_t>();
    const unsigned segment_size = cursor.Read<uint8_t>();
    if (!cursor.ok()) return;
    const auto unit =
        std::lower_bound(units.begin(), units.end(), unit_offset,
                         [](const std::unique_ptr<Unit>& u, uint64_t o) { return u->offset < o; });
    const bool sound = version == 2 && segment_size == 0 && unit != units.end() &&
                       (*unit)->offset == unit_offset && (address_size == 4 || address_size == 8);
    if (sound) {
      const auto index = static_cast<uint32_t>(unit - units.begin());
      const uint64_t pair = 2 * uint64_t{address_size};
      cursor.Skip((pair - (cursor.offset() - at) % pair) % pair);
      while (cursor.ok() && !cursor.AtEnd()) {
        const uint64_t start = cursor.ReadSized(address_size);
        const uint64_t size = cursor.ReadSized(address_size);
        if (!cursor.ok() || (start == 0 && size == 0)) break;
        if (is_code_(start) && size <= ~start) {
          units_.Add(start, start + size, index);
        }
        listed[index] = true;
      }
    }
    at = end;
  }
}

}  // namespace

std::unique_ptr<DebugInfo> DebugInfo::Open(const DebugInfoFiles& files) {
  if (!HasDebugInfo(*files.debug)) return nullptr;
  return std::make_unique<FileDebugInfo>(files);
}

}  // namespace profiler::symbolize::dwarf
