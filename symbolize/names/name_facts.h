// Facts about looked-up addresses, as a recording or the cache stores them. They are collected
// once, on the recorded machine, and are valid wherever they are read. They are independent of
// naming options: names are linkage names, and all facts about an address are stored.
//
//   images ──▶ addresses, instructions ──▶ symbol    the function that contains the code
//                                      ──▶ inlined   the calls inlined there, innermost first:
//                                                    entry ──▶ its caller's entry ──▶ … ──▶ none
//          ──▶ pieces                                code
//
// A recording has two sections of facts. NAMES has the addresses of samples. CODE, used only by
// `annotate`, has the code of sampled functions (pieces) and the names of its instructions. A file
// of the cache is a NAMES section with one image.

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
  // Largest depth of calls inlined into one another.
  static constexpr uint32_t kMostInlined = 511;

  struct Symbol {
    // Each member has the meaning of the member with the same name in AddressFacts::Function.
    StringId name{};
    ElfAddress start;
    uint64_t size = 0;
    bool in_symbol_table = true;
    bool operator==(const Symbol&) const = default;
  };

  // A function that the compiler inlined into another one.
  struct Inlined {
    StringId name{};
    uint32_t caller = kNone;  // index of an earlier entry; kNone: the function that has the code
    StringId file{};          // source file of the call; empty: unknown
    uint32_t line = 0;        // line of the call; 0: unknown
    bool operator==(const Inlined&) const = default;
  };

  // Facts about the code at one address.
  template <class Where>
  struct Entry {
    Where at;
    // Bytes from the start of the symbol; without a symbol, from the start of the neighbour.
    uint64_t distance = 0;
    uint32_t symbol = kNone;     // index in Image::symbols; kNone: no function is known
    uint32_t neighbour = kNone;  // index in Image::symbols, like AddressFacts::neighbour
    uint32_t inlined = kNone;    // index in Image::inlined of the innermost inlined call
    StringId file{};             // source file of the instruction; empty: unknown
    uint32_t line = 0;           // line of the instruction; 0: unknown
    Reason reason = Reason::kNamed;
    bool operator==(const Entry&) const = default;
  };
  using Address = Entry<CodePlace>;       // `at` is the argument of Symbolizer::Name
  using Instruction = Entry<ElfAddress>;  // `at` is the argument of Symbolizer::NameAt

  // A piece of code in a JIT's dump, and its runtime address from `time` on.
  struct Code {
    uint64_t time = 0;
    RuntimeAddress start;
    uint64_t size = 0;
    FileOffset offset;  // offset in the dump, like Address::at
    bool operator==(const Code&) const = default;
  };

  // Code of a function, from the image's file.
  struct Piece {
    ElfAddress address;  // address of the first byte, as in Symbolizer::CodeAt
    CodePlace place;     // place of the first byte, as in Symbolizer::Name
    std::vector<std::byte> bytes;
    bool operator==(const Piece&) const = default;
  };

  struct Image {
    ImageKind kind = ImageKind::kUser;
    uint32_t pid = 0;  // set if images of this path differ between processes; else 0
    StringId path{};
    std::vector<std::byte> build_id;
    std::vector<Symbol> symbols;
    std::vector<Inlined> inlined;
    std::vector<Address> addresses;  // sorted by place, distinct
    std::vector<Code> codes;         // sorted by time; only code that was hit
    // Instructions of the pieces, and the functions that the pieces call. Sorted by address,
    // distinct.
    std::vector<Instruction> instructions;
    std::vector<Piece> pieces;  // sorted by address, distinct
    uint16_t machine = 0;       // machine of the pieces: EM_… of <elf.h>
    // True if debug information covered an address while facts were collected. Not stored.
    bool has_debug_info = false;
    bool operator==(const Image&) const = default;
  };

  bool has_lines = true;    // true if inlined calls, files and lines were looked up
  bool is_complete = true;  // false: naming was cut short
  StringTable strings;
  std::vector<Image> images;
};

}  // namespace profiler::symbolize
