// Facts about the addresses that were looked up, as a recording carries them and as the cache keeps
// them: found once, on the machine that was recorded, good wherever they are read. They know no
// options: names are the linker's, and everything that is known of an address is there.
//
//   images ──▶ addresses, instructions ──▶ symbol    the function that has the code
//                                      ──▶ inlined   what was inlined there, innermost first:
//                                                    entry ──▶ its caller's entry ──▶ … ──▶ none
//          ──▶ pieces                                code
//
// A recording has them in two sections: NAMES has the addresses that were hit. CODE, which no view
// but `annotate` needs, has the code of functions that were interrupted (pieces), and the names of
// its instructions. A file of the cache is as NAMES, of one image.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/string_table.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

struct NameFacts {
  static constexpr uint32_t kNone = UINT32_MAX;
  // Calls that are inlined into one another, at most.
  static constexpr uint32_t kMostInlined = 511;

  struct Symbol {
    // As AddressFacts::Function has them.
    StringId name{};
    ElfAddress start;
    uint64_t size = 0;
    bool in_symbol_table = true;
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

  // What is known of the code at one address.
  template <class Where>
  struct Entry {
    Where at;
    uint64_t distance = 0;       // from the symbol's start; without one, from the neighbour's
    uint32_t symbol = kNone;     // kNone: nothing is known
    uint32_t neighbour = kNone;  // as AddressFacts::neighbour
    uint32_t inlined = kNone;    // the innermost
    StringId file{};             // of the instruction; empty: unknown
    uint32_t line = 0;           // 0: unknown
    Reason reason = Reason::kNamed;
    bool operator==(const Entry&) const = default;
  };
  using Address = Entry<CodePlace>;       // as Symbolizer::Name takes it
  using Instruction = Entry<ElfAddress>;  // as Symbolizer::NameAt takes it

  // Of the code in a JIT's dump: from when on it lay where.
  struct Code {
    uint64_t time = 0;
    RuntimeAddress start;
    uint64_t size = 0;
    FileOffset offset;  // in the dump, as addresses have it
    bool operator==(const Code&) const = default;
  };

  // Bytes of the image's file: a function's code.
  struct Piece {
    ElfAddress address;  // of the first one, as Symbolizer::CodeAt takes it
    CodePlace place;     // the same, as Symbolizer::Name takes it
    std::vector<std::byte> bytes;
    bool operator==(const Piece&) const = default;
  };

  struct Image {
    ImageKind kind = ImageKind::kUser;
    uint32_t pid = 0;  // where images of one path differ between processes; 0: they do not
    StringId path{};
    std::vector<std::byte> build_id;
    std::vector<Symbol> symbols;
    std::vector<Inlined> inlined;
    std::vector<Address> addresses;  // by place, distinct
    std::vector<Code> codes;         // by time; those that were hit
    // The instructions of the pieces, and what they call; by address, distinct.
    std::vector<Instruction> instructions;
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

}  // namespace profiler::symbolize
