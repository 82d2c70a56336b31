#include "symbolize/dwarf/line_table.h"

#include <dwarf.h>

#include <algorithm>
#include <array>

#include "symbolize/dwarf/abbreviations.h"

namespace profiler::symbolize::dwarf {
namespace {

bool IsAbsolute(std::string_view path) { return path.starts_with('/'); }

std::string Join(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && !path.ends_with('/')) path += '/';
  return path += name;
}

}  // namespace

// Runs one program. Its header:
//
//   length, version u16, [address size u8, segment selector size u8: version 5], header length,
//   minimum instruction length u8, [operations an instruction u8: from version 4],
//   default is_stmt u8, line base i8, line range u8, opcode base u8, lengths of standard opcodes,
//   directories, files
class LineTable::Program {
 public:
  Program(const LineSections& sections, uint64_t offset, unsigned address_size, LineTable& table)
      : sections_(sections), cursor_(sections.lines, offset), table_(table) {
    sizes_.address = static_cast<uint8_t>(address_size);
  }

  void Run(const IsCode& is_code) {
    ReadHeader();
    if (!cursor_.ok()) return;
    cursor_.Seek(program_start_);
    table_.rows_.reserve(cursor_.remaining() / 4);
    size_t first_row = 0;
    while (cursor_.ok() && !cursor_.AtEnd()) {
      const auto opcode = cursor_.Read<uint8_t>();
      if (opcode >= opcode_base_) {
        const unsigned adjusted = opcode - opcode_base_;
        Advance(adjusted / line_range_);
        row_.line += static_cast<uint32_t>(line_base_ + static_cast<int>(adjusted % line_range_));
        AddRow();
      } else if (opcode != 0) {
        Standard(opcode);
      } else if (Extended(is_code)) {
        table_.Close(first_row, row_.address, is_code);
        first_row = table_.rows_.size();
        row_ = {0, 1, 1, 0};
        dropped_ = false;
      }
    }
    // Rows behind the last end of a sequence have no end.
    table_.rows_.resize(first_row);
  }

 private:
  void ReadHeader() {
    const uint64_t length = cursor_.ReadInitialLength(sizes_.offset);
    cursor_.EndAt(cursor_.offset() + length);
    table_.program_size_ = length;
    sizes_.version = cursor_.Read<uint16_t>();
    if (sizes_.version < 2 || sizes_.version > 5) return cursor_.Fail();
    if (sizes_.version >= 5) {
      sizes_.address = cursor_.Read<uint8_t>();
      cursor_.Skip(1);
    }
    const uint64_t header_length = cursor_.ReadSized(sizes_.offset);
    program_start_ = cursor_.offset() + header_length;
    if (header_length > cursor_.remaining()) return cursor_.Fail();
    instruction_length_ = cursor_.Read<uint8_t>();
    if (sizes_.version >= 4) cursor_.Skip(1);
    cursor_.Skip(1);
    line_base_ = cursor_.Read<int8_t>();
    line_range_ = cursor_.Read<uint8_t>();
    opcode_base_ = cursor_.Read<uint8_t>();
    if (line_range_ == 0 || opcode_base_ == 0) return cursor_.Fail();
    for (unsigned opcode = 1; opcode < opcode_base_; ++opcode) {
      operands_[opcode] = cursor_.Read<uint8_t>();
    }
    if (sizes_.version >= 5) {
      ReadEntries([this](std::string_view name, uint64_t) { table_.directories_.push_back(name); });
      ReadEntries([this](std::string_view name, uint64_t directory) {
        table_.files_.push_back({name, directory, {}});
      });
    } else {
      ReadOldEntries();
    }
  }

  // Strings up to an empty one; then name, directory, time, length up to an empty name. Both count
  // from 1: directory 0 is that of the unit.
  void ReadOldEntries() {
    table_.directories_.push_back(table_.unit_directory_);
    for (std::string_view name; !(name = cursor_.ReadString()).empty();) {
      table_.directories_.push_back(name);
    }
    table_.files_.emplace_back();
    for (std::string_view name; !(name = cursor_.ReadString()).empty();) ReadOldFile(name);
  }

  void ReadOldFile(std::string_view name) {
    const uint64_t directory = cursor_.ReadUleb();
    cursor_.SkipLeb();
    cursor_.SkipLeb();
    if (cursor_.ok()) table_.files_.push_back({name, directory, {}});
  }

  // A list of (content, form), then as many values an entry.
  template <class Add>
  void ReadEntries(const Add& add) {
    struct Column {
      uint64_t content, form;
    };
    std::array<Column, 256> columns;
    const unsigned column_count = cursor_.Read<uint8_t>();
    for (unsigned i = 0; i < column_count; ++i) {
      columns[i].content = cursor_.ReadUleb();
      columns[i].form = cursor_.ReadUleb();
    }
    const uint64_t count = cursor_.ReadUleb();
    for (uint64_t i = 0; i < count && cursor_.ok(); ++i) {
      const uint64_t start = cursor_.offset();
      std::string_view name;
      uint64_t directory = 0;
      for (unsigned column = 0; column < column_count && cursor_.ok(); ++column) {
        const auto [content, form] = columns[column];
        if (content == DW_LNCT_path) {
          name = ReadText(form);
        } else if (content == DW_LNCT_directory_index) {
          directory = ReadNumber(form);
        } else {
          ReadNumber(form);
        }
      }
      if (cursor_.offset() == start) cursor_.Fail();  // entries of nothing, in any number
      if (cursor_.ok()) add(name, directory);
    }
  }

  std::string_view ReadText(uint64_t form) {
    switch (form) {
      case DW_FORM_string:
        return cursor_.ReadString();
      case DW_FORM_line_strp:
        return Cursor(sections_.line_strings, cursor_.ReadSized(sizes_.offset)).ReadString();
      case DW_FORM_strp:
        return Cursor(sections_.strings, cursor_.ReadSized(sizes_.offset)).ReadString();
      default:
        ReadNumber(form);
        return {};
    }
  }

  uint64_t ReadNumber(uint64_t form) {
    const int size = SizeOfForm(form, sizes_);
    if (form == DW_FORM_udata) return cursor_.ReadUleb();
    if (size == 16 || size == 0) {
      cursor_.Skip(static_cast<uint64_t>(size));
    } else if (size > 0) {
      return cursor_.ReadSized(static_cast<unsigned>(size));
    } else {
      SkipVariable(cursor_, form, sizes_);
    }
    return 0;
  }

  void AddRow() {
    if (!dropped_) table_.rows_.push_back(row_);
  }

  void Advance(uint64_t operations) { row_.address += operations * instruction_length_; }

  void Standard(uint8_t opcode) {
    switch (opcode) {
      case DW_LNS_copy:
        AddRow();
        break;
      case DW_LNS_advance_pc:
        Advance(cursor_.ReadUleb());
        break;
      case DW_LNS_advance_line:
        row_.line += static_cast<uint32_t>(cursor_.ReadSleb());
        break;
      case DW_LNS_set_file:
        row_.file = static_cast<uint32_t>(cursor_.ReadUleb());
        break;
      case DW_LNS_set_column:
        row_.column = static_cast<uint32_t>(cursor_.ReadUleb());
        break;
      case DW_LNS_const_add_pc:
        Advance((255u - opcode_base_) / line_range_);
        break;
      case DW_LNS_fixed_advance_pc:
        row_.address += cursor_.Read<uint16_t>();
        break;
      case DW_LNS_negate_stmt:
      case DW_LNS_set_basic_block:
      case DW_LNS_set_prologue_end:
      case DW_LNS_set_epilogue_begin:
        break;
      default:  // DW_LNS_set_isa, and those to come
        for (unsigned i = 0; i < operands_[opcode]; ++i) cursor_.SkipLeb();
    }
  }

  // Whether it ends a sequence.
  bool Extended(const IsCode& is_code) {
    const uint64_t length = cursor_.ReadUleb();
    if (length > cursor_.remaining()) {
      cursor_.Fail();
      return false;
    }
    if (length == 0) return false;
    const uint64_t next = cursor_.offset() + length;
    const auto opcode = cursor_.Read<uint8_t>();
    if (opcode == DW_LNE_set_address) {
      const auto size = static_cast<unsigned>(length - 1);
      if (size == 2 || size == 4 || size == 8) row_.address = cursor_.ReadSized(size);
      dropped_ = !is_code(row_.address);
    } else if (opcode == DW_LNE_define_file) {
      ReadOldFile(cursor_.ReadString());
    }
    cursor_.Seek(next);
    return cursor_.ok() && opcode == DW_LNE_end_sequence;
  }

  const LineSections& sections_;
  Cursor cursor_;
  LineTable& table_;
  UnitSizes sizes_;
  uint64_t program_start_ = 0;
  unsigned instruction_length_ = 1;
  int line_base_ = 0;
  unsigned line_range_ = 1;
  unsigned opcode_base_ = 1;
  std::array<uint8_t, 256> operands_ = {};
  LineRow row_ = {0, 1, 1, 0};
  bool dropped_ = false;  // the linker took the code of this sequence away
};

LineTable LineTable::Read(const LineSections& sections, uint64_t offset, unsigned address_size,
                          std::string_view directory, const IsCode& is_code) {
  LineTable table;
  table.unit_directory_ = directory;
  Program(sections, offset, address_size, table).Run(is_code);
  std::stable_sort(table.sequences_.begin(), table.sequences_.end(),
                   [](const Sequence& a, const Sequence& b) { return a.start < b.start; });
  return table;
}

// Makes the rows from `first_row` on a sequence, or drops them where there is no code.
void LineTable::Close(size_t first_row, uint64_t end, const IsCode& is_code) {
  const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(first_row);
  const auto before = [](const LineRow& a, const LineRow& b) { return a.address < b.address; };
  if (!std::is_sorted(first, rows_.end(), before)) std::stable_sort(first, rows_.end(), before);
  if (first == rows_.end() || first->address >= end || !is_code(first->address)) {
    rows_.erase(first, rows_.end());
    return;
  }
  sequences_.push_back({first->address, end, static_cast<uint32_t>(first_row),
                        static_cast<uint32_t>(rows_.size() - first_row)});
}

const LineRow* LineTable::Find(uint64_t address) const {
  auto sequence = std::upper_bound(sequences_.begin(), sequences_.end(), address,
                                   [](uint64_t a, const Sequence& s) { return a < s.start; });
  if (sequence == sequences_.begin()) return nullptr;
  --sequence;
  if (address >= sequence->end) return nullptr;
  const auto first = rows_.begin() + sequence->first_row;
  const auto after = std::upper_bound(first, first + sequence->row_count, address,
                                      [](uint64_t a, const LineRow& r) { return a < r.address; });
  return &*std::prev(after);
}

std::string_view LineTable::FileName(uint32_t index) {
  if (index >= files_.size() || files_[index].name.empty()) return {};
  File& file = files_[index];
  if (IsAbsolute(file.name)) return file.name;
  if (!file.path) {
    const std::string_view directory =
        file.directory < directories_.size() ? directories_[file.directory] : std::string_view();
    std::string path = Join(directory, file.name);
    // Directory 0 is the unit's own, which may itself be relative.
    const bool in_unit_directory = file.directory == 0 && !directories_.empty();
    file.path =
        IsAbsolute(path) || in_unit_directory ? std::move(path) : Join(unit_directory_, path);
  }
  return *file.path;
}

}  // namespace profiler::symbolize::dwarf
