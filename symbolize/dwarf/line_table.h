// Which source line an instruction is of: one line table as libdw reads it, in a quarter of the
// space.
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
  uint32_t line = 0;    // 0: of no line
  uint32_t column = 0;  // 0: unknown
};

// Where and for whom a table is read.
struct LineTableSource {
  SectionViews sections;
  uint64_t offset = 0;  // in .debug_line
  unsigned address_size = 8;
  std::string_view directory;  // that the unit was compiled in
  // The code of the unit, by address: all else is of functions that the linker dropped.
  std::vector<AddressRange> code;
};

// Immutable.
class LineTable {
 public:
  // What cannot be read makes an empty table. libdw needs some 150 bytes for each byte of the
  // table, until this returns.
  static LineTable Read(const LineTableSource& source, StringTable& paths);

  // The row that covers `address`: of those at one address the last. Null where there is none.
  const LineRow* Find(uint64_t address) const;

  // The path as the compiler was given it, below the unit's directory where it is relative: one of
  // `paths`. Empty for an index that the table does not have.
  StringId FileName(uint32_t file) const {
    return file < files_.size() ? files_[file] : StringId::kEmpty;
  }

  uint64_t size() const { return size_; }  // bytes of the section

 private:
  class Reader;

  uint64_t size_ = 0;
  std::vector<StringId> files_;
  std::vector<LineRow> rows_;  // by address
};

}  // namespace profiler::symbolize::dwarf
