// Facts about the code at one address, independent of how names are shown. A source of names
// (files, a recording, the cache) returns them; a presenter (present.h) turns them into names.
//
//   files ─────▶ AddressFacts ──▶ NameFormatter ─────────▶ Naming      as a view asks for it
//   NameFacts ─▶              ──▶ NameFactsBuilder ──▶ NameFacts   for a recording or the cache

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/address.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// The facts of one address. All views live as long as the source of the facts, except `inlined`,
// which is valid until the next call of the source.
struct AddressFacts {
  struct Function {
    // Name in the symbol table; a PLT stub's name ends with "@plt". Empty: the function has no
    // name, but call frame information says where it starts.
    std::string_view name;
    // Start of the function: an address of the image itself; for kernel and JIT code a runtime
    // address.
    ElfAddress start;
    uint64_t size = 0;
    bool in_symbol_table = true;  // false: only debug information names it
  };
  struct Line {
    std::string_view file;  // empty: unknown
    uint32_t line = 0;      // 0: unknown
    uint32_t column = 0;    // 0: unknown
  };
  // A function that the compiler inlined into another one.
  struct Inlined {
    std::string_view name;
    // First entry: the line of the instruction. Other entries: the line of the call to the previous
    // entry.
    Line at;
  };

  // kNamed: `function` is set and has a name.
  Reason reason = Reason::kNoSymbol;
  // The address in the same address space as Function::start; empty: unknown.
  std::optional<ElfAddress> address;
  // The function that contains the code.
  std::optional<Function> function;
  // A function whose symbol has no size and starts before the address. perf extends such a symbol
  // to the start of the next symbol. So the symbol covers the address, although the function's own
  // code ends before the address. The function names the address only without
  // PresentOptions::bounded_symbols.
  std::optional<Function> neighbour;
  std::span<const Inlined> inlined;  // inlined calls at the address, innermost first
  Line at;                           // line in `function`, like Inlined::at
  bool has_debug_info = false;       // true if debug information covers the address

  // Returns the line of the instruction itself.
  const Line& innermost() const { return inlined.empty() ? at : inlined.front().at; }
  // Returns the distance in bytes from the start of the function to the address; without a
  // function, from the start of the neighbour. Returns 0 if the address is before that start:
  // compilers move parts of a function in front of it, and these parts may have no symbol of their
  // own.
  uint64_t distance() const {
    if (!address) return 0;
    const Function* const from = function ? &*function : neighbour ? &*neighbour : nullptr;
    return from == nullptr || *address < from->start ? 0 : address->value - from->start.value;
  }
};

// Properties of a trusted file. They distinguish it from another file with the same build-id.
struct TrustedFile {
  uid_t owner = 0;
  uint64_t size = 0;
  std::string path;  // path at which it was opened
};

// The files that are missing for one image.
struct MissingFiles {
  std::string path;  // path of the image, as recorded
  std::vector<std::byte> build_id;
  bool executable = false;  // true if the recorded file is absent or is another build
  // True if the executable, and the debug files beside it, lack the information that names need.
  bool debug_info = false;
};

// A source of facts about images. Arguments are those of Symbolizer::Name and Symbolizer::NameAt.
class FactSource : public Images, public RecordedFacts, public ImageContents {
 public:
  // Returns the file of a kUser image if root or the user owns it and it lies on a local file
  // system. Facts of such a file may be cached for every image with the same build-id. Opens the
  // file, but reads neither symbols nor debug information.
  virtual std::optional<TrustedFile> TrustedFileOf(ImageId /*image*/) { return std::nullopt; }

  // Returns true if all facts about the image (kUser, kKernel or kJitDump) come from files that
  // root or the user owns on local file systems. Call it after the first Find in the image.
  virtual bool AreFilesTrusted(ImageId /*image*/) { return false; }

  // Returns the files of a kUser image that are missing on this machine. Returns nothing if no file
  // is missing or if none can be fetched: the build-id is unknown, or the file is no ELF file.
  // Cost: opens and maps the files.
  virtual std::optional<MissingFiles> MissingFilesOf(ImageId /*image*/) { return std::nullopt; }

  // Announces the addresses of the next Find calls, like Symbolizer::WillName.
  virtual void WillFind(ImageId /*image*/, std::span<const CodePlace> /*places*/) {}

  virtual AddressFacts Find(ImageId image, CodePlace place) = 0;
  virtual AddressFacts FindAt(ImageId image, ElfAddress address) = 0;
};

}  // namespace profiler::symbolize
