// Finds the source line of an instruction. A LineTable has the rows that libdw reads, in a quarter
// of the space.
//
// Source: DWARF 5, 6.2; DWARF 2 to 4, 6.2.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/string_table.h"
#include "symbolize/dwarf/dwarf_file.h"
#include "symbolize/dwarf/libdw_sections.h"

namespace profiler::symbolize::dwarf {

struct LineRow {
  uint64_t address = 0;
  uint32_t file = 0;    // for LineTable::FileName; kNoCode: no code from here on
  uint32_t line = 0;    // 0: no line
  uint32_t column = 0;  // 0: unknown
};

// A line table to read.
struct LineTableSource {
  SectionViews sections;
  uint64_t offset = 0;  // in .debug_line
  unsigned address_size = 8;
  std::string_view directory;  // compilation directory of the unit
  // Code ranges of the unit, ascending. Rows elsewhere belong to functions that the linker dropped.
  std::vector<AddressRange> code;
};

// A line table. Immutable.
class LineTable {
 public:
  // Reads a table; empty if it cannot be read. libdw needs about 150 bytes per byte of the table
  // until this function returns.
  static LineTable Read(const LineTableSource& source, StringTable& paths);

  // Returns the row that covers `address`; of several rows at one address, the last. Null: none.
  const LineRow* Find(uint64_t address) const;

  // Returns the path as given to the compiler, with the unit's directory if it is relative; a
  // string in `paths`. Empty if the table has no such index.
  StringId FileName(uint32_t file) const {
    return file < files_.size() ? files_[file] : StringId::kEmpty;
  }

  uint64_t size() const { return size_; }  // bytes of the section that were read

 private:
  class Reader;

  uint64_t size_ = 0;
  std::vector<StringId> files_;
  std::vector<LineRow> rows_;  // by address
};

}  // namespace profiler::symbolize::dwarf
