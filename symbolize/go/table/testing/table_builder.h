// Builds the function table of a Go program, byte by byte, for tests.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "symbolize/unwind/testing/cfi_builder.h"

namespace profiler::symbolize {

enum class GoVersion { k1_16, k1_18, k1_20 };

struct GoFunctionSpec {
  std::string name;
  uint64_t start = 0x1000;
  // A frame size in bytes, and the length of the code that has it.
  struct Piece {
    int64_t frame = 0;
    uint64_t bytes = 0x100;
  };
  std::vector<Piece> pieces = {{}};
  int flags = 0;

  static constexpr int kTopFrame = 1, kWritesStackPointer = 2;
};

// Builds the table. Functions are ordered by start; each ends at the next start, the last at `end`.
inline ByteBuilder GoTable(const std::vector<GoFunctionSpec>& functions, uint64_t end,
                           uint64_t text_start = 0x1000, GoVersion version = GoVersion::k1_20) {
  const bool counts_from_text = version != GoVersion::k1_16;
  ByteBuilder names{0}, pc_tables{0}, records, entries;
  const size_t word = counts_from_text ? 4 : 8;
  const auto add_word = [&](ByteBuilder& to, uint64_t value) {
    counts_from_text ? to.U32(static_cast<uint32_t>(value)) : to.U64(value);
  };
  const auto counted = [&](uint64_t address) {
    return counts_from_text ? address - text_start : address;
  };
  const size_t entries_size = (2 * functions.size() + 1) * word;
  for (const GoFunctionSpec& function : functions) {
    const size_t name = names.size(), pc_table = pc_tables.size();
    names.Text(function.name);
    int64_t before = -1;
    for (const GoFunctionSpec::Piece& piece : function.pieces) {
      const int64_t change = piece.frame - before;
      pc_tables.Uleb(static_cast<uint64_t>(change) << 1 ^ static_cast<uint64_t>(change >> 63));
      pc_tables.Uleb(piece.bytes);
      before = piece.frame;
    }
    pc_tables.U8(0);
    add_word(entries, counted(function.start));
    add_word(entries, entries_size + records.size());
    add_word(records, counted(function.start));
    records.U32(static_cast<uint32_t>(name)).U32(0).U32(0);
    records.U32(static_cast<uint32_t>(pc_table)).U32(0).U32(0).U32(0).U32(0);
    if (version == GoVersion::k1_20) records.U32(1);
    records.U8(0).U8(function.flags).U8(0).U8(0);
  }
  add_word(entries, counted(end));

  constexpr size_t kMagicSize = 8;
  const size_t header_size = kMagicSize + 8 * (counts_from_text ? 8 : 7);
  ByteBuilder table;
  table.U32(version == GoVersion::k1_16   ? 0xfffffffa
            : version == GoVersion::k1_18 ? 0xfffffff0
                                          : 0xfffffff1);
  table.U8(0).U8(0).U8(1).U8(8).U64(functions.size()).U64(0);
  if (counts_from_text) table.U64(text_start);
  const size_t names_at = header_size, pc_tables_at = names_at + names.size();
  table.U64(names_at).U64(0).U64(0).U64(pc_tables_at).U64(pc_tables_at + pc_tables.size());
  return table.Bytes(names).Bytes(pc_tables).Bytes(entries).Bytes(records);
}

}  // namespace profiler::symbolize
