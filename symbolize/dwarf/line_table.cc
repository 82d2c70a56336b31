#include "symbolize/dwarf/line_table.h"

#include <algorithm>
#include <limits>

namespace profiler::symbolize::dwarf {
namespace {

constexpr uint32_t kNoCode = std::numeric_limits<uint32_t>::max();
// Longer functions are not dropped by linkers, which drop copies.
constexpr uint64_t kLongestDropped = 1 << 20;

std::string Join(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && !path.ends_with('/')) path += '/';
  return path += name;
}

}  // namespace

class LineTable::Reader {
 public:
  Reader(const LineTableSource& source, StringTable& paths, LineTable& table)
      : source_(source), paths_(paths), table_(table) {}

  void Run() {
    SectionViews sections = source_.sections;
    // Without units libdw knows no directory to put before a name, which would hide whether the
    // table told it.
    sections[SectionId::kInfo] = {};
    const auto opened = LibdwSections::Open(sections, source_.address_size);
    if (!opened) return;
    Dwarf_Off end = 0;
    Dwarf_CU* unit = nullptr;
    Dwarf_Lines* lines = nullptr;
    Dwarf_Files* files = nullptr;
    size_t line_count = 0, file_count = 0;
    if (dwarf_next_lines(opened->dwarf(), source_.offset, &end, &unit, &files, &file_count, &lines,
                         &line_count) != 0) {
      return;
    }
    table_.size_ = end - source_.offset;
    NameFiles(files, file_count);
    AddRows(lines, line_count);
  }

 private:
  void AddRows(Dwarf_Lines* lines, size_t count) {
    const uint64_t dropped_end = EndOfDropped(lines, count);
    rows_.reserve(count);
    auto code = source_.code.begin();  // that `address` is in, or before
    for (size_t i = 0; i < count; ++i) {
      Dwarf_Line* const line = dwarf_onesrcline(lines, i);
      const uint64_t address = AddressOf(line);
      while (code != source_.code.end() && code->end <= address) ++code;
      const bool is_code = code != source_.code.end() && address >= code->start;
      if (IsEnd(line)) {
        AddRow({address, kNoCode, 0, 0});
      } else if (is_code && address >= dropped_end) {
        AddRow(RowOf(line, address));
      }
    }
    table_.rows_ = std::vector<LineRow>(rows_.begin(), rows_.end());
  }

  static uint64_t AddressOf(Dwarf_Line* line) {
    Dwarf_Addr address = 0;
    dwarf_lineaddr(line, &address);
    return address;
  }

  static bool IsEnd(Dwarf_Line* line) {
    bool is_end = false;
    dwarf_lineendsequence(line, &is_end);
    return is_end;
  }

  LineRow RowOf(Dwarf_Line* line, uint64_t address) {
    LineRow row;
    row.address = address;
    int number = 0, column = 0;
    if (dwarf_lineno(line, &number) == 0) row.line = static_cast<uint32_t>(number);
    if (dwarf_linecol(line, &column) == 0) row.column = static_cast<uint32_t>(column);
    Dwarf_Files* files = nullptr;
    size_t file = 0;
    if (dwarf_line_file(line, &files, &file) == 0) row.file = static_cast<uint32_t>(file);
    return row;
  }

  // A row that says the same as the one before is left out.
  void AddRow(const LineRow& row) {
    if (!rows_.empty() && rows_.back().address == row.address) rows_.pop_back();
    const bool is_new = rows_.empty()
                            ? row.file != kNoCode
                            : rows_.back().file != row.file || rows_.back().line != row.line ||
                                  rows_.back().column != row.column;
    if (is_new) rows_.push_back(row);
  }

  // libdw sorts the rows of all sequences together, those of dropped functions among them, which
  // start where there is no code, at 0:
  //
  //   dropped   0 ├───────────┤ 0x1800
  //   code           0x1000 ├────┤ 0x1400     whose is a row in between?
  //
  // A sequence of code ends where code of the unit ends, so an end elsewhere is that of a dropped
  // one. What is before the last of them is not told apart, and not believed.
  uint64_t EndOfDropped(Dwarf_Lines* lines, size_t count) const {
    if (count == 0 || source_.code.empty()) return 0;
    const uint64_t first_code = source_.code.front().start;
    if (AddressOf(dwarf_onesrcline(lines, 0)) >= first_code) return 0;
    uint64_t end_of_dropped = 0;
    for (size_t i = 0; i < count; ++i) {
      Dwarf_Line* const line = dwarf_onesrcline(lines, i);
      const uint64_t address = AddressOf(line);
      if (address >= kLongestDropped) break;
      if (IsEnd(line) && !IsEndOfCode(address)) end_of_dropped = address;
    }
    return end_of_dropped;
  }

  bool IsEndOfCode(uint64_t address) const {
    return std::any_of(source_.code.begin(), source_.code.end(),
                       [address](const AddressRange& range) { return range.end == address; });
  }

  void NameFiles(Dwarf_Files* files, size_t count) {
    dwarf_getsrcdirs(files, &directories_, &directory_count_);
    table_.files_.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const char* const name = dwarf_filesrc(files, i, nullptr, nullptr);
      // libdw's name of a file that the table does not have.
      const bool is_known = name != nullptr && std::string_view(name) != "???";
      if (is_known) table_.files_[i] = Keep(name);
    }
  }

  StringId Keep(std::string_view name) {
    const bool whole = name.starts_with('/') || IsInFirstDirectory(name);
    return paths_.Intern(whole ? std::string(name) : Join(source_.directory, name));
  }

  // Directory 0 of DWARF 5 is the unit's own, which may itself be relative.
  bool IsInFirstDirectory(std::string_view name) const {
    if (directory_count_ == 0 || directories_[0] == nullptr) return false;
    const std::string_view first = directories_[0];
    return name.size() > first.size() && name.starts_with(first) && name[first.size()] == '/';
  }

  const LineTableSource& source_;
  StringTable& paths_;
  LineTable& table_;
  std::vector<LineRow> rows_;
  const char* const* directories_ = nullptr;
  size_t directory_count_ = 0;
};

LineTable LineTable::Read(const LineTableSource& source, StringTable& paths) {
  LineTable table;
  Reader(source, paths, table).Run();
  return table;
}

const LineRow* LineTable::Find(uint64_t address) const {
  const auto after = std::upper_bound(rows_.begin(), rows_.end(), address,
                                      [](uint64_t a, const LineRow& r) { return a < r.address; });
  if (after == rows_.begin() || std::prev(after)->file == kNoCode) return nullptr;
  return &*std::prev(after);
}

}  // namespace profiler::symbolize::dwarf
