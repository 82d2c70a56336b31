// What is known of the code at one address, however names are to be shown: what a source of names
// (files, a recording, the cache) answers, before it is presented (present.h).
//
//   files ─────▶ AddressFacts ──▶ Presenter ─────────▶ Naming     as a view asks for it
//   NameFacts ─▶              ──▶ NameFactsBuilder ──▶ NameFacts  as a recording or the cache keeps
//   it

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

// All views live as long as the source of the facts, but for `inlined`, which lives until the
// source is asked again.
struct AddressFacts {
  struct Function {
    // As the linker has it, a PLT stub's with "@plt". Empty: the function has no name, but call
    // frame information knows where it starts.
    std::string_view name;
    ElfAddress start;  // in the image's own addresses; of kernel and JIT code where it ran
    uint64_t size = 0;
    bool in_symbol_table = true;  // else only debug information has it
  };
  struct Line {
    std::string_view file;  // empty: unknown
    uint32_t line = 0;      // 0: unknown
    uint32_t column = 0;    // 0: unknown
  };
  // A function whose code is in another one's.
  struct Inlined {
    std::string_view name;
    Line at;  // where it calls the one before it; in the first one, of the instruction
  };

  // kNamed: `function` is there, and has a name.
  Reason reason = Reason::kNoSymbol;
  std::optional<ElfAddress> address;  // in the terms of Function::start; empty: unknown
  // The function that has the code.
  std::optional<Function> function;
  // A function that has a symbol without a size, which reaches to this address out of its own code.
  // It names the address only where such symbols are not bounded.
  std::optional<Function> neighbour;
  std::span<const Inlined> inlined;  // innermost first
  Line at;                           // of `function`, as Inlined::at
  bool has_debug_info = false;       // debug information knows the address

  // The line of the instruction itself.
  const Line& innermost() const { return inlined.empty() ? at : inlined.front().at; }
  // From the start of the function, or else of the neighbour, to the address. Code that was moved
  // out of a function, and has no symbol, may lie before the function's start: then 0.
  uint64_t distance() const {
    if (!address) return 0;
    const Function* const from = function ? &*function : neighbour ? &*neighbour : nullptr;
    return from == nullptr || *address < from->start ? 0 : address->value - from->start.value;
  }
};

// What tells the file of an image from others that say they have its build-id.
struct TrustedFile {
  uid_t owner = 0;
  uint64_t size = 0;
  std::string path;  // where it was found
};

// What is missing of one image.
struct MissingFiles {
  std::string path;  // as recorded
  std::vector<std::byte> build_id;
  bool executable = false;  // the file that ran is not there, or is another build
  bool debug_info = false;  // nor is, within it or beside it, what names are made of
};

// Images that can be asked for facts. The arguments are those of Symbolizer::Name and NameAt.
class FactSource : public Images {
 public:
  // The file of an image of kind kUser, if it is root's or the user's own and is on this machine's
  // own file systems, so that its facts may be kept for whoever has that build-id. Opens the file,
  // but reads neither symbols nor debug information.
  virtual std::optional<TrustedFile> TrustedFileOf(ImageId /*image*/) { return std::nullopt; }

  // True if everything that is said of an image of kind kUser, kKernel or kJitDump comes from files
  // of root or of the user on this machine's own file systems. Asked after an address of the image.
  virtual bool AreFilesTrusted(ImageId /*image*/) { return false; }

  // Which files of an image of kind kUser are not here. None where nothing is missing, nor where
  // nothing can be asked for: the build-id is not known, or it is no ELF file. Cost: opens and maps
  // the files.
  virtual std::optional<MissingFiles> MissingFilesOf(ImageId /*image*/) { return std::nullopt; }

  // As Symbolizer::WillName.
  virtual void WillFind(ImageId /*image*/, std::span<const CodePlace> /*places*/) {}

  virtual AddressFacts Find(ImageId image, CodePlace place) = 0;
  virtual AddressFacts FindAt(ImageId image, ElfAddress address) = 0;
};

}  // namespace profiler::symbolize
