#include "symbolize/dwarf/line_table.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "src/base/byte_reader.h"
#include "symbolize/elf/section_contents.h"

namespace profiler::symbolize::dwarf {
namespace {

constexpr uint32_t kNoCode = std::numeric_limits<uint32_t>::max();

// A pass over a line program. It moves the sequences that start outside of code to an address
// without code.
//
//   dropped   0 ├───────────┤ 0x1800
//   code           0x1000 ├────┤ 0x1400     here rows of both would be mixed
//
// Linkers leave the sequences of dropped functions at 0, and libdw sorts the rows of all sequences
// together. The program's header:
//
//   length, version u16, [address size u8, segment selector size u8: version 5], header length,
//   minimum instruction length u8, [operations an instruction u8: from version 4],
//   default is_stmt u8, line base i8, line range u8, opcode base u8, lengths of standard opcodes
class DroppedSequences {
 public:
  DroppedSequences(std::vector<std::byte>& program, unsigned address_size,
                   const std::vector<AddressRange>& code)
      : program_(program), address_size_(address_size), code_(code), reader_(program) {}

  // Moves the sequences. Returns false if libdw must not read the program. One reason is that no
  // compiler writes programs of this form, so libdw could read them differently from this code. The
  // other reason is that the program defines files (DW_LNE_define_file), and libdw 0.192 reads such
  // programs out of bounds.
  bool Move() {
    const uint8_t opcode_base = ReadHeader();
    while (reader_.ok() && reader_.remaining() != 0) {
      const auto opcode = reader_.Read<uint8_t>();
      if (opcode >= opcode_base) continue;
      if (opcode == 0) {
        ReadExtended();
      } else if (opcode == DW_LNS_fixed_advance_pc) {
        reader_.Skip(2);
      } else {
        for (int operand = operands_[opcode]; operand > 0; --operand) ReadUleb();
      }
    }
    return reader_.ok();
  }

 private:
  // Reads up to the first opcode. Returns the program's opcode base; 0: there are no special
  // opcodes.
  uint8_t ReadHeader() {
    const unsigned offset_size = reader_.Read<uint32_t>() == 0xffffffff ? 8 : 4;
    if (offset_size == 8) reader_.Skip(8);
    const auto version = reader_.Read<uint16_t>();
    if (version >= 5) reader_.Skip(2);
    const uint64_t length = offset_size == 8 ? reader_.Read<uint64_t>() : reader_.Read<uint32_t>();
    const size_t behind_length = reader_.offset();
    reader_.Skip(version >= 4 ? 5 : 4);
    const auto opcode_base = reader_.Read<uint8_t>();
    for (int opcode = 1; opcode < opcode_base; ++opcode) {
      operands_[opcode] = reader_.Read<uint8_t>();
    }
    const size_t read = reader_.offset() - behind_length;
    if (length < read) reader_.Fail();
    reader_.Skip(length - read);
    return opcode_base;
  }

  void ReadExtended() {
    const auto length = reader_.Read<uint8_t>();
    const size_t end = reader_.offset() + length;
    switch (reader_.Read<uint8_t>()) {
      case DW_LNE_end_sequence:
        break;
      case DW_LNE_set_address:
        address_size_ == 4 ? MoveOutOfCode<uint32_t>() : MoveOutOfCode<uint64_t>();
        break;
      case DW_LNE_set_discriminator:
        ReadUleb();
        break;
      case DW_LNE_define_file:
      case DW_LNE_NVIDIA_inlined_call:
      case DW_LNE_NVIDIA_set_function_name:
        return reader_.Fail();
      default:
        reader_.Skip(length - size_t{1});
    }
    if (length >= 0x80 || reader_.offset() != end) reader_.Fail();
  }

  template <class Address>
  void MoveOutOfCode() {
    const size_t at = reader_.offset();
    auto address = reader_.Read<Address>();
    // The end of a range counts as code too, because a sequence may end there.
    const AddressRange* const range = LastFrom(code_, address);
    const bool is_code = range != nullptr && address <= range->end;
    if (is_code || !reader_.ok()) return;
    address |= Address{1} << (8 * sizeof(Address) - 1);
    std::memcpy(program_.data() + at, &address, sizeof(address));
  }

  void ReadUleb() {
    constexpr int kLongest = 10;
    for (int size = 1; (reader_.Read<uint8_t>() & 0x80) != 0; ++size) {
      if (size == kLongest) return reader_.Fail();
    }
  }

  std::vector<std::byte>& program_;
  const unsigned address_size_;
  const std::vector<AddressRange>& code_;
  ByteReader reader_;
  std::array<uint8_t, 256> operands_ = {};
};

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
    const std::vector<std::byte> program = CopyProgram();
    table_.size_ = program.size();
    SectionViews sections = source_.sections;
    sections[SectionId::kLine] = program;
    // Gives libdw no units. Otherwise it would prepend the compilation directory to paths, and this
    // code could not see whether the table has the directory.
    sections[SectionId::kInfo] = {};
    const auto opened = LibdwSections::Open(sections, source_.address_size);
    if (!opened) return;
    Dwarf_Off end = 0;
    Dwarf_CU* unit = nullptr;
    Dwarf_Lines* lines = nullptr;
    Dwarf_Files* files = nullptr;
    size_t line_count = 0, file_count = 0;
    if (dwarf_next_lines(opened->dwarf(), 0, &end, &unit, &files, &file_count, &lines,
                         &line_count) != 0) {
      return;
    }
    NameFiles(files, file_count);
    AddRows(lines, line_count);
  }

 private:
  // Copies the program, so that it cannot change while libdw reads it. Empty if it is truncated or
  // if libdw must not read it.
  std::vector<std::byte> CopyProgram() const {
    const Bytes section = source_.sections[SectionId::kLine].subspan(source_.offset);
    ByteReader reader(section);
    uint64_t length = reader.Read<uint32_t>();
    const bool has_long_length = length == 0xffffffff;
    if (has_long_length) length = reader.Read<uint64_t>();
    reader.Skip(length);
    std::vector<std::byte> copy;
    if (!reader.ok()) return copy;
    copy.reserve(reader.offset() + 4 + kReadableBehind);
    copy.assign(section.begin(), section.begin() + static_cast<std::ptrdiff_t>(reader.offset()));
    if (!DroppedSequences(copy, source_.address_size, source_.code).Move()) copy.clear();
    if (has_long_length && !copy.empty()) Lengthen(length, copy);
    return copy;
  }

  // Appends 4 opcodes without effect, because libdw 0.192 ignores the last 4 bytes of a 64-bit
  // program: it assumes that the initial length has 8 bytes instead of 12.
  static void Lengthen(uint64_t length, std::vector<std::byte>& program) {
    program.insert(program.end(), 4, std::byte{DW_LNS_set_basic_block});
    length += 4;
    std::memcpy(program.data() + 4, &length, sizeof(length));
  }

  void AddRows(Dwarf_Lines* lines, size_t count) {
    rows_.reserve(count);
    auto code = source_.code.begin();  // the first range that ends after `address`
    for (size_t i = 0; i < count; ++i) {
      Dwarf_Line* const line = dwarf_onesrcline(lines, i);
      const uint64_t address = AddressOf(line);
      while (code != source_.code.end() && code->end <= address) ++code;
      const bool is_code = code != source_.code.end() && address >= code->start;
      if (IsEnd(line)) {
        AddRow({address, kNoCode, 0, 0});
      } else if (is_code) {
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

  // Adds a row, unless it equals the previous one.
  void AddRow(const LineRow& row) {
    if (!rows_.empty() && rows_.back().address == row.address) rows_.pop_back();
    const bool is_new = rows_.empty()
                            ? row.file != kNoCode
                            : rows_.back().file != row.file || rows_.back().line != row.line ||
                                  rows_.back().column != row.column;
    if (is_new) rows_.push_back(row);
  }

  void NameFiles(Dwarf_Files* files, size_t count) {
    dwarf_getsrcdirs(files, &directories_, &directory_count_);
    table_.files_.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const char* const name = dwarf_filesrc(files, i, nullptr, nullptr);
      // libdw returns "???" for a file that the table does not have.
      const bool is_known = name != nullptr && std::string_view(name) != "???";
      if (is_known) table_.files_[i] = Keep(name);
    }
  }

  StringId Keep(std::string_view name) {
    const bool whole = name.starts_with('/') || IsInFirstDirectory(name);
    return paths_.Intern(whole ? std::string(name) : Join(source_.directory, name));
  }

  // Directory 0 of DWARF 5 is the unit's own, which may be relative.
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
