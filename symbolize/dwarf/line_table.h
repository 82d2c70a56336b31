// Which source line an instruction is of: one line program of .debug_line, run once.
//
// Source: DWARF 5, 6.2; DWARF 2 to 4, 6.2.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbolize/dwarf/cursor.h"

namespace profiler::symbolize::dwarf {

struct LineRow {
  uint64_t address = 0;
  uint32_t file = 0;    // for LineTable::FileName
  uint32_t line = 0;    // 0: of no line
  uint32_t column = 0;  // 0: unknown
};

// The sections that a program and its file names are in.
struct LineSections {
  Bytes lines;         // .debug_line
  Bytes strings;       // .debug_str
  Bytes line_strings;  // .debug_line_str
};

// Whether an address may be one of code. Linkers leave the lines of functions that they dropped at
// 0 or at another address without code.
using IsCode = std::function<bool(uint64_t address)>;

// Immutable but for the names that FileName makes. Memory: 24 bytes a row, at most one a byte of
// the program.
class LineTable {
 public:
  // The program at `offset`, of a unit compiled in `directory`. What cannot be read ends the table.
  // `address_size` is the unit's; DWARF 5 has its own.
  static LineTable Read(const LineSections& sections, uint64_t offset, unsigned address_size,
                        std::string_view directory, const IsCode& is_code);

  // The row that covers `address`: of those at one address the last. Null where there is none.
  const LineRow* Find(uint64_t address) const;

  // The path as the compiler was given it, below the unit's directory where it is relative. Empty
  // for an index that the table does not have. Valid as long as the table.
  std::string_view FileName(uint32_t file);

  uint64_t program_size() const { return program_size_; }  // bytes of the section

 private:
  class Program;

  struct Sequence {
    uint64_t start = 0;
    uint64_t end = 0;  // exclusive
    uint32_t first_row = 0;
    uint32_t row_count = 0;
  };
  struct File {
    std::string_view name;
    uint64_t directory = 0;  // an index
    std::optional<std::string> path;
  };

  void Close(size_t first_row, uint64_t end, const IsCode& is_code);

  uint64_t program_size_ = 0;
  std::string_view unit_directory_;
  std::vector<std::string_view> directories_;  // by the index that files have
  std::deque<File> files_;                     // likewise
  std::vector<LineRow> rows_;                  // a sequence's together, by address
  std::vector<Sequence> sequences_;            // by start
};

}  // namespace profiler::symbolize::dwarf
