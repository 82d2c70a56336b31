// The names of the addresses that a recording hit, and where it was asked for, the code of the
// functions that were interrupted, as it carries them: found once on the machine that was recorded,
// good wherever it is read.
//
//   images ──▶ addresses, instructions ──▶ symbol    the function that has the code
//                                      ──▶ inlined   what was inlined there, innermost first:
//                                                    entry ──▶ its caller's entry ──▶ … ──▶ none
//          ──▶ pieces                                code
//
// A recording has them in two sections: NAMES has addresses, CODE has instructions and pieces,
// which no view but `annotate` needs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/string_table.h"

namespace profiler {

struct EmbeddedNames {
  static constexpr uint32_t kNone = UINT32_MAX;
  // Calls that are inlined into one another, at most.
  static constexpr uint32_t kMostInlined = 511;

  struct Symbol {
    // As the linker knows it, a PLT stub's with "@plt". Empty: the function has no name, but where
    // it starts is known.
    StringId name{};
    uint64_t start = 0;  // in the image's own addresses; of kernel and JIT code where it ran
    uint64_t size = 0;
    bool in_symbol_table = true;  // else only debug information has it
    bool operator==(const Symbol&) const = default;
  };

  // A function whose code is in another one's.
  struct Inlined {
    StringId name{};
    uint32_t caller = kNone;  // an earlier entry; kNone: the function that has the code
    StringId file{};          // where the caller calls it; empty: unknown
    uint32_t line = 0;        // 0: unknown
    bool operator==(const Inlined&) const = default;
  };

  struct Address {
    uint64_t offset = 0;      // as symbolize::Symbolizer::Name takes it
    uint64_t distance = 0;    // from the symbol's start; without one, from the neighbour's
    uint32_t symbol = kNone;  // kNone: nothing is known
    // A symbol without a size that reaches here from another function, and names the address only
    // where functions are not told apart; kNone: there is none.
    uint32_t neighbour = kNone;
    uint32_t inlined = kNone;  // the innermost
    StringId file{};           // of the instruction; empty: unknown
    uint32_t line = 0;         // 0: unknown
    uint8_t reason = 0;        // a symbolize::Reason
    bool operator==(const Address&) const = default;
  };

  // Of the code in a JIT's dump: from when on it lay where.
  struct Code {
    uint64_t time = 0;
    uint64_t start = 0;
    uint64_t size = 0;
    uint64_t offset = 0;  // in the dump, as addresses have it
    bool operator==(const Code&) const = default;
  };

  // Bytes of the image's file: a function's code.
  struct Piece {
    uint64_t address = 0;  // of the first one, as symbolize::Symbolizer::CodeAt takes it
    uint64_t offset = 0;   // and as Symbolizer::Name does
    std::vector<std::byte> bytes;
    bool operator==(const Piece&) const = default;
  };

  struct Image {
    uint8_t kind = 0;  // a symbolize::ImageKind
    uint32_t pid = 0;  // where images of one path differ between processes; 0: they do not
    StringId path{};
    std::vector<std::byte> build_id;
    std::vector<Symbol> symbols;
    std::vector<Inlined> inlined;
    std::vector<Address> addresses;  // by offset, distinct
    std::vector<Code> codes;         // by time; those that were hit
    // Those of the pieces, and what they call: `offset` is as Symbolizer::NameAt takes it, and they
    // stand by that, distinct.
    std::vector<Address> instructions;
    std::vector<Piece> pieces;  // by address, distinct
    uint16_t machine = 0;       // of the pieces: EM_… of <elf.h>
    // Debug information knew one of the addresses when they were collected. Not stored.
    bool has_debug_info = false;
    bool operator==(const Image&) const = default;
  };

  bool has_lines = true;    // inlined calls, files and lines were looked for
  bool is_complete = true;  // else naming was cut short
  StringTable strings;
  std::vector<Image> images;
};

}  // namespace profiler
