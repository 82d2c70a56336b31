// Finds the source line of an instruction. A LineTable has the same rows as libdw's table, in a
// quarter of the memory.
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
  uint32_t file = 0;    // argument of LineTable::FileName; kNoCode: no code from `address` on
  uint32_t line = 0;    // 0: no line
  uint32_t column = 0;  // 0: unknown
};

// A line table to read.
struct LineTableSource {
  SectionViews sections;
  uint64_t offset = 0;  // offset of the table in .debug_line
  unsigned address_size = 8;
  std::string_view directory;  // compilation directory of the unit
  // Code ranges of the unit, ascending. Rows outside of them belong to functions that the linker
  // dropped.
  std::vector<AddressRange> code;
};

// A line table. Immutable.
class LineTable {
 public:
  // Reads a table; the result is empty if it cannot be read. Adds the table's file names to
  // `paths`. Until Read returns, libdw uses about 150 bytes of memory per byte of the table.
  static LineTable Read(const LineTableSource& source, StringTable& paths);

  // Returns the row that covers `address`; null if there is none. If several rows have the same
  // address, the last one counts.
  const LineRow* Find(uint64_t address) const;

  // Returns the path of file number `file`, as an id in the `paths` of Read. The path is as given
  // to the compiler; a relative path follows the unit's directory. Empty if the table has no such
  // file.
  StringId FileName(uint32_t file) const {
    return file < files_.size() ? files_[file] : StringId::kEmpty;
  }

  uint64_t size() const { return size_; }  // number of the section's bytes that were read

 private:
  class Reader;

  uint64_t size_ = 0;
  std::vector<StringId> files_;
  std::vector<LineRow> rows_;  // sorted by address
};

}  // namespace profiler::symbolize::dwarf
