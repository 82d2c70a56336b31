// Source lines and inlined calls of the code of one image, from its DWARF debug information (2 to
// 5).
//
//   address → unit      the ranges that the unit's root entry tells
//           → scopes    the function and what was inlined there, of an index of that unit
//           → line      a row of that unit's line table
//
// libdw reads the format, one unit at a time; index and table are made when the first address in
// the unit is looked up, by one walk over its entries. Function names are not copied.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/address.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/fetched_files.h"

namespace profiler::symbolize::dwarf {

// One function at an address.
struct SourceFrame {
  std::string_view function;  // the linker's name of it, else that of the source; empty: unknown
  std::string_view file;      // empty: unknown
  uint32_t line = 0;          // 0: unknown
  uint32_t column = 0;        // 0: unknown
  bool inlined = false;       // into the next one
  ElfAddress start;           // of the code (of its first range)
  uint64_t size = 0;
};

struct DebugInfoFiles {
  const ElfImage* image = nullptr;  // that ran
  std::string image_path;
  const ElfImage* debug = nullptr;  // that has the debug information; may be `image`
  std::string debug_path;
  // Of another process, whose files these are (src/base/regular_file.h); empty: they are ours. The
  // files that debug information below it names are looked for below it.
  std::string root;
  // Whether other files are looked for by the names that these have of them, and beside them. To be
  // set where both are files of root or of the effective user: those of others could name any file.
  // What is found so has to be a file of these two as well.
  bool follow_names = false;
  std::vector<std::string> debug_directories;   // for alternate files, by build-id
  std::shared_ptr<const FetchedFiles> fetched;  // likewise; may be null
  bool lines = true;                            // else files and lines are not looked for
};

// The build-id of the alternate file of `files.debug` where that file is not to be found; empty
// where it is, or there is to be none.
std::vector<std::byte> MissingAlternate(const DebugInfoFiles& files);

// Not thread-safe.
class DebugInfo {
 public:
  // Null where `files.debug` has no debug information. Both images must outlive this. Reads nothing
  // yet, but decompresses what is compressed.
  static std::unique_ptr<DebugInfo> Open(const DebugInfoFiles& files);
  virtual ~DebugInfo() = default;

  // What is at an address: innermost first, the last one has the code. Each one's line is where it
  // calls the one before it; the first one's is that of the instruction. Empty where nothing is
  // known. A frame without function name is of code that has lines only (assembler).
  //
  // The span lives until the next call, the views as long as this. Cost: under a microsecond; the
  // first address in a function reads what was inlined there, the first one in a unit its functions
  // and lines, the first one of all the list of units.
  virtual std::span<const SourceFrame> Find(ElfAddress address) = 0;

  // Whether functions and inlined calls were left out: there is far more to be looked at than
  // compilers write for debug information of that size.
  virtual bool is_cut() const = 0;
};

}  // namespace profiler::symbolize::dwarf
